"""Rows of a sweep as a pandas frame."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.sweeps.csv_file import numeric, read_rows
from simulator.sweeps.rows import FIXED, KEY, Row, columns

if TYPE_CHECKING:
    import pandas as pd

TEXT = {"policy", "topology", "workload", "engine", "bottleneck", "error", KEY}


def frame_of(rows: Sequence[Row]) -> "pd.DataFrame":
    """A row a point. A column whose every value is a number has numbers, NaN where there is none."""
    import pandas as pd

    names = columns(dict.fromkeys(key for row in rows for key in row if key not in FIXED))
    frame = pd.DataFrame([{name: row.get(name, "") for name in names} for row in rows], columns=names)
    for name in names:
        texts = [row[name] for row in rows if row.get(name)]
        if name not in TEXT and all(map(numeric, texts)):
            frame[name] = pd.to_numeric(frame[name])
    return frame


def read_frame(path: Path) -> "pd.DataFrame":
    """A sweep CSV as a frame. Raises UserError."""
    return frame_of(read_rows(path)[1])
