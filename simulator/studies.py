"""The verbs of what-if studies, registered by `cli.py`: sweeps, frontiers and explanations."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from simulator.errors import UserError
from simulator.files import writable

SweepArgument = Annotated[Path, typer.Argument(help="sweep file", metavar="FILE")]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="processes of this machine; default one a core")
]
MetricName = Literal["communication_s", "communication_without_sync_s", "iteration_s"]
CsvArgument = Annotated[Path, typer.Argument(help="sweep.csv of a sweep's results", metavar="CSV")]


def sweep(
    file: SweepArgument,
    out: Annotated[
        Path | None, typer.Option(help="results folder; default results/NAME", metavar="DIR")
    ] = None,
    workers: WorkersOption = None,
    dask: Annotated[
        str | None, typer.Option(help="compute on the Dask cluster of this scheduler", metavar="ADDRESS")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed points again")] = False,
) -> None:
    """Compute many points over a few keys into one CSV; after a kill, go on where it stopped."""
    from rich.console import Console

    from simulator.sweeps.choose import workers_for
    from simulator.sweeps.progress import sweep_progress
    from simulator.sweeps.run import CSV_NAME, run_sweep
    from simulator.sweeps.sweep import load_sweep
    from simulator.sweeps.text import sweep_text
    from simulator.terminal import resumable

    loaded = load_sweep(file)
    folder = out or Path("results") / loaded.spec.name
    with (
        resumable(folder),
        workers_for(workers, dask) as who,
        sweep_progress(loaded.spec.name) as observer,
    ):
        rows = run_sweep(loaded, folder, workers=who, retry=retry, observer=observer)
    print(sweep_text(rows, width=Console().width), end="")
    print(f"\nResults: {folder / CSV_NAME}")


def sweep_combine(
    files: Annotated[list[Path], typer.Argument(help="CSVs of sweeps", metavar="CSV...")],
    out: Annotated[Path, typer.Option(help="the combined CSV", metavar="CSV", callback=writable)],
) -> None:
    """Put the rows of several sweeps into one CSV, each point once."""
    from simulator.sweeps.run import combine

    rows = combine(files, out)
    print(f"{out}: {len(rows):,} points")


def sweep_plot(
    file: CsvArgument,
    out: Annotated[
        Path, typer.Option(help="the picture; an SVG is written beside it", metavar="PNG", callback=writable)
    ],
    x: Annotated[
        str | None,
        typer.Option(help="the varied key across; default the one with most values", metavar="KEY"),
    ] = None,
    y: Annotated[str, typer.Option(help="the figure upwards", metavar="COLUMN")] = "communication_s",
) -> None:
    """Draw a figure of a sweep over one of its keys, a line a policy."""
    from simulator.sweeps.csv_file import read_rows
    from simulator.sweeps.plot import plot_sweep

    _, rows = read_rows(file)
    plot_sweep(rows, out.with_suffix(""), x=x, y=y)
    print(f"{out.with_suffix('.png')}")


def explain(
    results: Annotated[Path, typer.Argument(help="results folder of a run", metavar="RESULTS")],
    policy: Annotated[
        list[str] | None, typer.Option("--policy", "-p", help="a policy's label; repeat it; default all")
    ] = None,
    step: Annotated[float, typer.Option(min=0.001, max=1, help="by which each knob is turned up")] = 0.1,
    files: Annotated[
        Path | None, typer.Option(help="folder of the workload's traces and histograms", metavar="DIR")
    ] = None,
    workers: WorkersOption = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="write the explanation to this file", metavar="FILE", callback=writable),
    ] = None,
) -> None:
    """Say why an iteration takes as long as it does, and what would help most."""
    from rich.console import Console

    from simulator.experiment.results import write_json
    from simulator.explanation.explanation import explain_experiment
    from simulator.explanation.rebuild import differences, rebuild
    from simulator.explanation.text import explanation_text
    from simulator.sweeps.choose import workers_for

    experiment = rebuild(results, files=files)
    with workers_for(workers, None) as who:
        found = explain_experiment(experiment, policies=policy, step=step, workers=who)
    print(explanation_text(found, width=Console().width), end="")
    for line in differences(results, {each.policy: each.communication_s for each in found}):
        print(line, file=sys.stderr)
    if json_file is not None:
        write_json(json_file, [each.to_json() for each in found])


def frontier(
    results: Annotated[
        Path, typer.Argument(help="a sweep's CSV or folder, or a run's folder", metavar="RESULTS")
    ],
    by: Annotated[MetricName, typer.Option(help="the latency that counts")] = "communication_s",
    prices: Annotated[
        Path | None, typer.Option(help="price list: what each cluster costs", metavar="YAML")
    ] = None,
    target: Annotated[str | None, typer.Option(help='latency to meet, such as "5 ms"')] = None,
    engine: Annotated[
        Literal["fluid", "bound"] | None, typer.Option(help="whose points; default that of most")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="draw it; an SVG is written beside it", metavar="PNG", callback=writable),
    ] = None,
) -> None:
    """Show memory against latency, and the cheapest cluster that is quick enough."""
    from rich.console import Console

    from simulator.sweeps.frontier import read_results, settings_of
    from simulator.sweeps.frontier_plot import plot_frontier
    from simulator.sweeps.frontier_text import frontier_text, offers_text
    from simulator.sweeps.prices import load_prices, offers_of

    if target is not None and prices is None:
        raise UserError("frontier: --target needs --prices")
    target_s = None if target is None else duration_argument("--target", target)
    settings = settings_of(read_results(results), by=by, engine=engine)
    print(frontier_text(settings, width=Console().width), end="")
    if prices is not None:
        listed = load_prices(prices)
        offers = offers_of(settings, listed)
        print("\n" + offers_text(offers, listed.unit, target_s, width=Console().width), end="")
    if out is not None:
        plot_frontier(settings, out.with_suffix(""), by=by)


def duration_argument(option: str, text: str) -> float:
    """Seconds of a quantity such as "5 ms". Raises UserError that names the option."""
    from simulator.units import UnitError, parse_duration

    try:
        return parse_duration(text)
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error


VERBS: dict[str, Callable[..., None]] = {
    "sweep": sweep,
    "sweep-combine": sweep_combine,
    "sweep-plot": sweep_plot,
    "explain": explain,
    "frontier": frontier,
}
