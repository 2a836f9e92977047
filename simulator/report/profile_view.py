"""A trace's profile for a person: its figures as lines, its shares as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import UserError
from simulator.workload.profile_view import plot_profile, profile_rows

if TYPE_CHECKING:
    from simulator.workload.profile import Profile

PICTURE_INCHES = (7.0, 4.5)


def profile_text(profile: "Profile") -> str:
    """A line a figure, values in one column."""
    rows = profile_rows(profile)
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:{width}}  {value}\n" for name, value in rows)


def draw_profile(profile: "Profile", path: Path) -> None:
    """Draw the cumulative shares, measured and fitted, to a picture of the kind that its name ends in."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=PICTURE_INCHES, layout="constrained")
    plot_profile(profile, figure.add_subplot())
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: the picture cannot be written: {error}") from error
