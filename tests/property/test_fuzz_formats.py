"""Files of every other format with bytes changed: traces, histograms, measurements, matrices, saved plans."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.calibrate.read import read_log
from simulator.collectives.matrix import read_matrix
from simulator.errors import UserError
from simulator.sharding.plan_file import load_plan
from simulator.sweeps.csv_file import read_rows
from simulator.topology.build import uniform_topology
from simulator.workload.load import load_workload
from simulator.workload.profile import profile_locality, profile_trace
from simulator.workload.traces.rank_frequency import read_rank_frequency
from simulator.workload.traces.source import TraceSource

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=3e11, nic_bytes_per_s=25e9)
WORKLOAD = """\
name: w
batch_per_rank: 4
tables:
- {name: items, rows: 100, dim: 4, length: 3, popularity: {kind: zipf, s: 1.0}}
"""
LOG = """\
# Collective test starting: alltoall_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8
#  Rank  0 Group  0 Pid 1 on   host1 device  0 [0x10] NVIDIA H100
#  Rank  1 Group  0 Pid 1 on   host1 device  1 [0x20] NVIDIA H100
#       size         count      type   redop    root     time   algbw   busbw #wrong
     1048576        131072     float    none      -1    20.00   52.43   26.21    N/A
     2097152        262144     float    none      -1    31.00   67.65   33.83    N/A
"""
LOCALITY = """\
x_t2_bs4
Locality stats after processing 1 batches of size 4
Avg # of indices: 10
Avg # of unique cols: 5
Histogram of col sizes:
(0, 1]: 0.5
(1+: 0.5
Ratio of index distribution at different column sizes:
(0, 1]: 0.2
(1+: 0.8
"""
PLAN = """\
policy: mine
world_size: 4
tables:
- table: items
  segments: [{to: 20, tier: replicated}, {to: 50, tier: island}, {to: 100, tier: global, owners: [0, 1]}]
"""
SWEEP = (
    "policy,engine,nic_bandwidth,communication_s,error,key\n"
    "row_wise,bound,25 GB/s,0.5,,a1\nflexshard,bound,25 GB/s,,too big,a2\n"
)


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("workload") / "w.yaml"
    path.write_text(WORKLOAD)
    return load_workload(path).statistics()


FORMATS: dict[str, tuple[str, Callable[[Path, Any], Any]]] = {
    "t.dat": ("1 2\n1 3\n2 2\n7 18446744073709551615\n", lambda path, _: profile_trace(TraceSource(path, "user_item"))),
    "s.dat": ("1 2 3\n\n4 5\n", lambda path, _: profile_trace(TraceSource(path, "sessions"))),
    "i.dat": ("1 2 3\n2 5\n", lambda path, _: profile_trace(TraceSource(path, "user_items"))),
    "l.txt": (LOCALITY, lambda path, _: profile_locality(path)),
    "f.csv": ("rank,frequency\n1,10\n2,5\n8,0.5\n", lambda path, _: read_rank_frequency(path)),
    "n.log": (LOG, lambda path, _: read_log(path)),
    "m.csv": ("op,ngpus,bytes,time_us\nalltoall,8,1048576,20\n", lambda path, _: read_log(path)),
    "m.txt": ("0 1 2 3\n4 0 5 6\n7 8 0 9\n1 1 1 0\n", lambda path, _: read_matrix(path, 4)),
    "p.yaml": (PLAN, lambda path, statistics: load_plan(path, statistics, TOPOLOGY)),
    "s.csv": (SWEEP, lambda path, _: read_rows(path)),
}  # fmt: skip
PIECES = b'-|,| |\t|\n\n|.|1e9|nan|inf|"|9999999999999999999999|#|\xff|\0|(|[|{|\xef\xbb\xbf|\r\n'.split(b"|")


def changed(content: bytes, data: st.DataObject) -> bytes:
    made = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(made)))
        made[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=2) | st.sampled_from(PIECES)
        )
    return bytes(made)


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_is_read_or_refused_with_its_name(
    tmp_path_factory: pytest.TempPathFactory, statistics: Any, name: str, data: st.DataObject
) -> None:
    text, read = FORMATS[name]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(changed(text.encode(), data))
    refused = ""
    try:
        read(path, statistics)
    except UserError as error:
        refused = str(error)
    assert all(line.startswith(str(path)) for line in refused.splitlines())


@pytest.mark.parametrize("name", FORMATS)
def test_is_read_as_it_is(tmp_path: Path, statistics: Any, name: str) -> None:
    text, read = FORMATS[name]
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name, statistics) is not None
