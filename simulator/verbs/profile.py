"""`shardsim profile`: what matters in a trace."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from simulator.verbs.arguments import written_file


def profile(
    trace: Annotated[Path, typer.Argument(help="trace or locality file", metavar="TRACE")],
    format_name: Annotated[
        Literal["user_item", "sessions", "user_items", "locality"],
        typer.Option("--format", help="what a line of the file is; it is never guessed"),
    ],
    workload: Annotated[
        Path | None,
        written_file(help="write a workload that draws the same"),
    ] = None,
    plot: Annotated[Path | None, written_file(help="draw the shares to this picture")] = None,
) -> None:
    """Measure a trace: its skew, lengths, reuse and drift."""
    from simulator.files import replace_file
    from simulator.report.profile_view import draw_profile, profile_text
    from simulator.workload.profile import profile_locality, profile_trace
    from simulator.workload.traces.source import TraceSource

    measured = (
        profile_locality(trace)
        if format_name == "locality"
        else profile_trace(TraceSource(trace, format_name))
    )
    print(profile_text(measured), end="")
    if workload is not None:
        replace_file(workload, measured.to_workload_yaml())
    if plot is not None:
        draw_profile(measured, plot)
