"""A trace streams: memory follows the number of different ids, not the size of the file."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from simulator.workload.profile import profile_trace
from simulator.workload.traces import tokens
from simulator.workload.traces.source import TraceSource

MEGABYTE = 1 << 20


@pytest.mark.parametrize("format", ["sessions", "user_item"])
def test_ten_times_the_file_takes_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setattr(tokens, "CHUNK_BYTES", 1 << 16)
    rng = np.random.default_rng(1)
    peaks = []
    for lines in (10_000, 100_000):
        path = tmp_path / f"{lines}.dat"
        ids = rng.integers(0, 500, lines)
        path.write_text("".join(f"{line // 9} {item}\n" for line, item in enumerate(ids)))
        tracemalloc.start()
        profile_trace(TraceSource(path, format))  # type: ignore[arg-type]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    if format == "sessions":  # every line has an id of its own there
        assert peaks[1] < peaks[0] + 4 * MEGABYTE
    else:
        assert peaks[1] < peaks[0] + MEGABYTE
    assert peaks[1] < 16 * MEGABYTE
