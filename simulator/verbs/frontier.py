"""`shardsim frontier`: what is worth its memory or its price."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from simulator.errors import UserError
from simulator.units import parse_duration
from simulator.verbs.arguments import JsonOption, quantity_argument, written_file

LatencyName = Literal["communication_s", "communication_without_sync_s", "iteration_s"]


def frontier(
    results: Annotated[
        Path, typer.Argument(help="a sweep's CSV or folder, or a run's folder", metavar="RESULTS")
    ],
    by: Annotated[LatencyName, typer.Option(help="the latency that counts")] = "communication_s",
    prices: Annotated[
        Path | None, typer.Option(help="price list: what each cluster costs", metavar="YAML")
    ] = None,
    target: Annotated[str | None, typer.Option(help='latency to meet, such as "5 ms"')] = None,
    engine: Annotated[
        Literal["fluid", "bound"] | None, typer.Option(help="whose points; default that of most")
    ] = None,
    json_file: JsonOption = None,
    out: Annotated[
        Path | None, written_file(help="draw it; an SVG is written beside it", metavar="PNG")
    ] = None,
) -> None:
    """Show memory against latency, and the cheapest cluster.

    The cheapest is that of a price list which meets the target.
    """
    from rich.console import Console

    from simulator.experiment.results import write_json
    from simulator.sweeps.frontier import read_results, settings_of
    from simulator.sweeps.frontier_plot import plot_frontier
    from simulator.sweeps.frontier_text import frontier_text, offers_text
    from simulator.sweeps.prices import load_prices, offers_of, unpriced

    if target is not None and prices is None:
        raise UserError("frontier: --target needs --prices")
    target_s = None if target is None else quantity_argument("--target", target, parse_duration)
    listed = None if prices is None else load_prices(prices)
    settings = settings_of(read_results(results), by=by, engine=engine)
    offers = [] if listed is None else offers_of(settings, listed, prices)
    print(frontier_text(settings, width=Console().width), end="")
    if listed is not None:
        left_out = unpriced(settings, listed)
        text = offers_text(offers, listed.unit, target_s, unpriced=left_out, width=Console().width)
        print("\n" + text, end="")
    if json_file is not None:
        write_json(json_file, {"by": by, "settings": [setting.to_json() for setting in settings]})
    if out is not None:
        plot_frontier(settings, out.with_suffix(""), by=by)
