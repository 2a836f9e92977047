"""A small sweep in a folder of its own, for the tests of sweeps."""

from pathlib import Path
from typing import Any

import yaml

from simulator.sweeps.sweep import Sweep, load_sweep

TOPOLOGY = """
name: four
islands: 2
gpus_per_island: 2
gpu: {hbm_capacity: 1 GB, hbm_bandwidth: 1 TB/s}
scale_up: {bandwidth: 100 GB/s, latency: 1 us}
scale_out: {nic_bandwidth: 100 Gbit/s, latency: 2 us}
"""
WORKLOAD = """
name: load
batch_per_rank: 32
embedding_dtype: fp16
tables:
  - name: items
    count: 2
    rows: 2000
    dim: 16
    touched: 0.5
    length: 10
    popularity: {kind: zipf, s: 1.1}
  - name: users
    rows: 100
    dim: 8
    length: 1
    popularity: {kind: uniform}
dense: {forward: 100 us, backward: 200 us, parameters: 1000}
"""
BASE: dict[str, Any] = {
    "name": "small",
    "topology": "four.yaml",
    "workload": "load.yaml",
    "policies": ["row_wise", {"name": "flexshard", "memory": "hbm", "label": "tiers"}],
    "vary": {
        "topology.scale_out.nic_bandwidth": ["100 Gbit/s", "200 Gbit/s"],
        "workload.batch_per_rank": [16, 32],
    },
}


def write_sweep(folder: Path, **changes: Any) -> Path:
    """The sweep file, with keys changed or (None) left out, and its base files beside it."""
    (folder / "four.yaml").write_text(TOPOLOGY)
    (folder / "load.yaml").write_text(WORKLOAD)
    path = folder / "sweep.yaml"
    data = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def small_sweep(folder: Path, **changes: Any) -> Sweep:
    return load_sweep(write_sweep(folder, **changes))
