"""`shardsim calibrate`: a topology's terms from measurements."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.verbs.arguments import written_file


def calibrate(
    logs: Annotated[list[Path], typer.Argument(help="nccl-tests output, or CSV of op,ngpus,bytes,time_us")],
    out: Annotated[
        Path | None,
        written_file(help="write the topology's terms as YAML"),
    ] = None,
) -> None:
    """Fit a topology's terms to measured collectives.

    They are the start-up times, the efficiency and the pair cap.
    """
    from simulator.calibrate.report import calibrate as fit
    from simulator.files import replace_file
    from simulator.report.calibration_view import calibration_text

    report = fit(logs)
    print(calibration_text(report), end="")
    if out is not None:
        replace_file(out, report.to_yaml())
    else:
        print(report.to_yaml(), end="")
