"""Memory against latency as a picture: every point, and each setting's front as steps."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.report.plots.style import GREY, house_style, new_figure, policy_colours, save, shortened, title
from simulator.report.scales import byte_scale, time_scale
from simulator.sweeps.axes import fit
from simulator.sweeps.frontier import Setting
from simulator.sweeps.plot import HEIGHT_IN, NAME_CHARACTERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FRONTS = 40


def plot_frontier(settings: Sequence[Setting], stem: Path, *, by: str) -> None:
    """Write `<stem>.png` and `<stem>.svg`."""
    with house_style():
        figure = new_figure(HEIGHT_IN)
        draw_frontier(figure.subplots(), settings, by)
        title(figure, "What does memory buy?")
        save(figure, stem)


def draw_frontier(ax: "Axes", settings: Sequence[Setting], by: str) -> None:
    """Points by policy; fronts in grey, those of the first settings if there are many."""
    everything = [each for setting in settings for each in setting.candidates]
    memory = byte_scale([each.memory_bytes for each in everything])
    latency = time_scale([each.latency_s for each in everything])
    for setting in settings[:MOST_FRONTS]:
        steps = [each for each in setting.candidates if each.on_front]
        x, y = (
            [each.memory_bytes / memory.size for each in steps],
            [each.latency_s / latency.size for each in steps],
        )
        ax.step(x, y, where="post", color=GREY, linewidth=0.8, zorder=1)
    for policy, colour in policy_colours(each.policy for each in everything).items():
        own = [each for each in everything if each.policy == policy]
        ax.scatter(
            [each.memory_bytes / memory.size for each in own],
            [each.latency_s / latency.size for each in own],
            s=14,
            color=colour,
            label=shortened(policy, NAME_CHARACTERS),
            zorder=2,
        )
    fit(ax, "x", [each.memory_bytes / memory.size for each in everything], from_zero=False)
    fit(ax, "y", [each.latency_s / latency.size for each in everything], from_zero=True)
    ax.set_xlabel(f"memory a GPU, {memory.unit}")
    ax.set_ylabel(f"{by.removesuffix('_s').replace('_', ' ')}, {latency.unit}")
    ax.legend()
