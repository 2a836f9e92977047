"""Random clusters and traffic for the network's tests: small, but of every kind that the schema has."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from simulator.arrays import FloatArray
from simulator.network.flows import Flows
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


@st.composite
def topologies(draw: st.DrawFn, *, perturbed: bool = False, most_ranks_of_island: int = 4) -> Topology:
    """Islands equal or not, NICs shared or bonded, four fabrics, pair caps, message gaps, latencies."""
    sizes = draw(st.lists(st.integers(1, most_ranks_of_island), min_size=2, max_size=4))
    fabric = draw(
        st.sampled_from(
            [
                {"kind": "non_blocking"},
                {"kind": "rail_only"},
                {"kind": "leaf_spine", "islands_per_leaf": 2, "oversubscription": "3:1"},
                {"kind": "torus", "dims": [len(sizes)], "link_bandwidth": "0.4 GB/s"},
            ]
        )
    )
    tier = st.fixed_dictionaries(
        {
            "latency": st.sampled_from(["0 s", "3 us", "40 us"]),
            "message_gap": st.sampled_from(["0 s", "2 us"]),
        },
        optional={"pair_cap": st.sampled_from(["0.3 GB/s", "1.1 GB/s"])},
    )
    spec: dict[str, Any] = {
        "name": "random",
        "islands": sizes,
        "scale_up": {"bandwidth": draw(st.sampled_from(["1 GB/s", "3 GB/s"])), **draw(tier)},
        "scale_out": {"nic_bandwidth": "1 GB/s", "fabric": fabric, **draw(tier)},
    }
    if fabric["kind"] != "rail_only":
        spec["scale_out"]["nics_per_island"] = draw(st.sampled_from([sizes, [1] * len(sizes)]))
    if perturbed:
        spec["perturb"] = [
            {
                "target": f"nic/0/{direction}",
                "from": f"{start} us",
                "until": f"{start + lasts} us",
                "factor": factor,
            }
            for direction in ("egress", "ingress")
            for start, lasts, factor in [
                draw(st.tuples(st.integers(0, 500), st.integers(1, 2000), st.sampled_from([0, 0.25, 0.5])))
            ]
        ]
    return build_topology(TopologySpec.model_validate(spec))


@st.composite
def traffic(draw: st.DrawFn, topology: Topology, *, most_bytes: int = 1_000_000) -> Flows:
    """A matrix that is even, skewed or sparse, in which some ranks send nothing or receive nothing."""
    world_size = topology.world_size
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["even", "skewed", "sparse"]))
    matrix = np.full((world_size, world_size), 1 + most_bytes // 10, np.int64)
    if kind != "even":
        matrix = np.minimum(1 + most_bytes / 10 * rng.lognormal(0, 1.5, matrix.shape), most_bytes).astype(
            np.int64
        )
    if kind == "sparse":
        matrix[rng.random(matrix.shape) < 0.7] = 0
    matrix[draw(st.lists(st.integers(0, world_size - 1), max_size=2))] = 0
    matrix[:, draw(st.lists(st.integers(0, world_size - 1), max_size=2))] = 0
    return Flows.from_matrix(matrix)


@st.composite
def starts(draw: st.DrawFn, count: int) -> FloatArray:
    """A start for each of `count` flows, of at most five different times."""
    times = np.array(draw(st.lists(st.floats(0, 2e-3), min_size=1, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return times[rng.integers(0, len(times), count)]
