"""A calibration for a person: how far the fitted terms are from what was measured."""

from typing import TYPE_CHECKING

from simulator.report.scales import share_text
from simulator.report.table import plain_text

if TYPE_CHECKING:
    from simulator.calibrate.report import CalibrationReport

WIDTH = 80


def calibration_text(report: "CalibrationReport") -> str:
    """A line for each device, operation, number of ranks and role; errors are of the simulated times."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("device", "operation", "role"):
        table.add_column(heading, overflow="fold")
    for heading in ("nodes", "ranks", "points", "mean error", "worst"):
        table.add_column(heading, justify="right")
    for row in report.table():
        texts = [str(row[key]) for key in ("device", "op", "role", "nodes", "ranks", "points")]
        errors = [share_text(float(row[key])) for key in ("mean_absolute_error", "worst_error")]
        table.add_row(*texts, *errors)
    return plain_text(table, width=WIDTH)
