"""Sizes by a typo: told in a line before the memory is taken. And sizes that are meant: they run, within a gibibyte.

All of a list runs in one process that may take a gibibyte more than its imports, and a minute of CPU time.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TOPOLOGY = """\
name: t
islands: 2
gpus_per_island: 2
gpu: {hbm_capacity: 80 GB}
scale_up: {bandwidth: 300 GB/s}
scale_out: {nic_bandwidth: 25 GB/s}
"""
WORKLOAD = """\
name: w
batch_per_rank: 8
tables:
- {name: a, rows: 1000, dim: 4, length: 5, popularity: {kind: zipf, s: 1.0}}
"""
ALIASES = "\n".join(
    ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    + [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 30)]
)
TABLES = "name: w\nbatch_per_rank: 8\ntables:\n" + "".join(
    f"- {{name: t{number}, count: 9000, rows: 9, dim: 4, length: 5, popularity: {{kind: uniform}}}}\n"
    for number in range(2000)
)


def with_(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def scale_out(more: str) -> str:
    return with_(TOPOLOGY, "25 GB/s}", f"25 GB/s, {more}}}")


TYPOS = {
    "aliases of aliases": ALIASES,
    "aliases in a topology": f"{TOPOLOGY}x: &x [1, 1]\ny: &y [*x, *x, *x]\n",
    "brackets": "[" * 300_000,
    "braces": "{a: " * 200_000,
    "keys": "\n".join(f"k{number}: 1" for number in range(200_000)),
    "a long text": "name: " + "x" * 3_000_000,
    "too long a file": "# " + "x" * 5_000_000,
    "a long number": with_(TOPOLOGY, "islands: 2", "islands: " + "9" * 100_000),
    "a long exponent": with_(TOPOLOGY, "80 GB", "1e999999999 GB"),
    "1e9 islands": with_(TOPOLOGY, "islands: 2", "islands: 1e9"),
    "1e9 GPUs": with_(TOPOLOGY, "gpus_per_island: 2", "gpus_per_island: 1e9"),
    "islands of 1e9": with_(TOPOLOGY, "islands: 2\ngpus_per_island: 2", "islands: [2, 1e9]"),
    "1e9 NICs": scale_out("nics_per_island: 1e9"),
    "NIC 1e15": scale_out("gpu_to_nic: [0, 1e15]"),
    "a torus of 1e18": scale_out("fabric: {kind: torus, dims: [1e9, 1e9], link_bandwidth: 1 GB/s}"),
    "1e9 tables": with_(WORKLOAD, "name: a", "name: a, count: 1e9"),
    "18 million tables": TABLES,
    "1e9 heavy hitters": with_(WORKLOAD, "s: 1.0", "s: 1.0, heavy_hitters: {count: 1e9, share: 0.5}"),
    "lengths of 1e9": with_(WORKLOAD, "length: 5", "length: 1e9"),
    "lognormal lengths up to 1e12": with_(
        WORKLOAD, "length: 5", "length: {kind: lognormal, mean: 9, sigma: 1, max: 1e12}"
    ),
    "a histogram of a length of 1e12": with_(
        WORKLOAD, "length: 5", "length: {kind: histogram, lengths: [1e12], weights: [1]}"
    ),
    "1e15 samples": with_(WORKLOAD, "batch_per_rank: 8", "batch_per_rank: 1e15"),
    "rows of 1e12 elements": with_(WORKLOAD, "dim: 4", "dim: 1e12"),
}
MEANT = {
    "16,000 ranks": ("validate", with_(TOPOLOGY, "islands: 2", "islands: 8000"), WORKLOAD),
    "1e15 rows": ("run", with_(TOPOLOGY, "80 GB", "9 PB"), with_(WORKLOAD, "rows: 1000", "rows: 1e15")),
    "1e9 samples": ("run", TOPOLOGY, with_(WORKLOAD, "batch_per_rank: 8", "batch_per_rank: 1e9")),
    "1,000 tables": ("run", TOPOLOGY, with_(WORKLOAD, "name: a", "name: a, count: 1000")),
    "65,536 heavy hitters": (
        "run",
        TOPOLOGY,
        with_(with_(WORKLOAD, "rows: 1000", "rows: 1e9"), "s: 1.0", "s: 1, heavy_hitters: {count: 65536, share: 0.5}"),
    ),
}  # fmt: skip

BOUNDED = """
import json, resource, sys
from pathlib import Path

import numba, numpy, pandas, scipy.optimize
from simulator.errors import UserError
from simulator.experiment.experiment import make_experiment
from simulator.experiment.simulate import simulate
from simulator.sharding.registry import PolicyEntry, available
from simulator.topology.load import load_topology
from simulator.validate import validate_file
from simulator.workload.load import load_workload

available()
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def run(folder):
    topology, workload = load_topology(folder / "t.yaml"), load_workload(folder / "w.yaml")
    policies = [PolicyEntry.parse(name) for name in ("row_wise", "flexshard")]
    return simulate(make_experiment(name="x", topology=topology, workload=workload, policies=policies, iterations=1))


said = {}
for name in json.loads(sys.stdin.read()):
    folder = Path(name)
    try:
        if (folder / "run").exists():
            said[name] = f"ran {len(run(folder).records)} policies"
        else:
            said[name] = [validate_file(file) for file in sorted(folder.glob("*.yaml"))]
    except UserError as error:
        said[name] = "refused: " + str(error)
print(json.dumps(said))
"""


def bounded(folder: Path, names: list[str]) -> dict[str, Any]:
    """What a process of little memory says of the inputs in folders of these names."""
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED],
        cwd=folder,
        input=json.dumps(names),
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said: dict[str, Any] = json.loads(done.stdout)
    return said


pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory limits are Linux's")


def test_a_size_by_a_typo_is_refused_before_it_is_taken(tmp_path: Path) -> None:
    for number, text in enumerate(TYPOS.values()):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "x.yaml").write_text(text)
    said = bounded(tmp_path, [str(number) for number in range(len(TYPOS))])
    for name, words in zip(TYPOS, said.values(), strict=True):
        assert str(words).startswith("refused: "), name
        assert len(words) < 1500, name


def test_a_size_that_is_meant_fits(tmp_path: Path) -> None:
    for number, (verb, topology, workload) in enumerate(MEANT.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "t.yaml").write_text(topology)
        (folder / "w.yaml").write_text(workload)
        if verb == "run":
            (folder / "run").touch()
    said = bounded(tmp_path, [str(number) for number in range(len(MEANT))])
    for name, words in zip(MEANT, said.values(), strict=True):
        assert not str(words).startswith("refused"), (name, words)
