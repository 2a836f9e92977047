import numpy as np
import pytest

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def topology(islands: object = 2, scale_out: dict[str, object] | None = None, **keys: object) -> Topology:
    sizes = {"gpus_per_island": 4} if isinstance(islands, int) else {}
    return build_topology(
        TopologySpec.model_validate(
            {
                "name": "t",
                "islands": islands,
                "scale_up": {"bandwidth": "100 GB/s", "latency": "1 us"},
                "scale_out": {
                    "nic_bandwidth": "10 GB/s",
                    "latency": "2 us",
                    "fabric": {"kind": "rail_only"},
                    **(scale_out or {}),
                },
                **sizes,
                **keys,
            }
        )
    )


def path(made: Topology, source: int, destination: int) -> list[str]:
    return [
        made.resources.names[hop] for hop in made.routes([source], [destination]).resources[0] if hop >= 0
    ]


def test_along_a_rail() -> None:
    assert path(topology(), 1, 5) == ["nic/1/egress", "nic/5/ingress"]


def test_across_rails_over_the_rail_mate_of_the_source() -> None:
    assert path(topology(), 1, 7) == [
        "scale_up/1/egress",
        "scale_up/3/ingress",
        "nic/3/egress",
        "nic/7/ingress",
    ]


def test_within_an_island() -> None:
    assert path(topology(), 1, 3) == ["scale_up/1/egress", "scale_up/3/ingress"]


def test_a_hop_over_scale_up_takes_its_latency_too() -> None:
    latency = topology().routes([1, 1, 1], [3, 5, 7]).latency_s
    assert latency.tolist() == pytest.approx([1e-6, 2e-6, 3e-6])


def test_a_path_over_scale_up_is_under_both_caps() -> None:
    def caps(inside: str | None, between: str | None) -> list[float]:
        up = {"bandwidth": "100 GB/s"} | ({"pair_cap": inside} if inside else {})
        made = topology(scale_out={"pair_cap": between} if between else {}, scale_up=up)
        return made.routes([1, 1, 1], [3, 5, 7]).cap_bytes_per_s.tolist()

    assert caps(None, None) == [np.inf, np.inf, np.inf]
    assert caps("40 GB/s", None) == [40e9, np.inf, 40e9]
    assert caps(None, "4 GB/s") == [np.inf, 4e9, 4e9]
    assert caps("40 GB/s", "4 GB/s") == [40e9, 4e9, 4e9]
    assert caps("3 GB/s", "4 GB/s") == [3e9, 4e9, 3e9]


def test_ranks_that_share_a_nic_share_its_rail() -> None:
    made = topology(scale_out={"nics_per_island": 2})
    assert path(made, 0, 5) == ["nic/0/egress", "nic/2/ingress"]
    assert path(made, 0, 7) == ["scale_up/0/egress", "scale_up/3/ingress", "nic/1/egress", "nic/3/ingress"]
    assert path(made, 0, 6) == ["scale_up/0/egress", "scale_up/2/ingress", "nic/1/egress", "nic/3/ingress"]


def test_one_nic_has_one_rail() -> None:
    made = topology(scale_out={"nics_per_island": 1})
    assert path(made, 3, 4) == ["nic/0/egress", "nic/1/ingress"]


def test_bonded_nics_are_one_rail() -> None:
    made = topology(scale_out={"nics_per_island": 8})
    assert path(made, 0, 4) == ["nic/0+1/egress", "nic/8+9/ingress"]
    assert path(made, 0, 5)[2:] == ["nic/2+3/egress", "nic/10+11/ingress"]


def test_unequal_islands_change_rails_where_both_exist() -> None:
    made = topology([4, 2])
    assert path(made, 3, 5) == ["scale_up/3/egress", "scale_up/1/ingress", "nic/1/egress", "nic/5/ingress"]
    assert path(made, 5, 3) == ["nic/5/egress", "nic/1/ingress", "scale_up/1/egress", "scale_up/3/ingress"]
    assert path(made, 4, 1) == ["scale_up/4/egress", "scale_up/5/ingress", "nic/5/egress", "nic/1/ingress"]
    assert path(made, 4, 0) == ["nic/4/egress", "nic/0/ingress"]


def test_the_mate_is_on_the_rail_when_local_indices_do_not_match() -> None:
    made = topology([4, 6], scale_out={"nics_per_island": 2})
    # Rails: ranks 0, 1 | 2, 3 in the first island, ranks 4, 5, 6 | 7, 8, 9 in the second.
    assert path(made, 0, 9) == ["scale_up/0/egress", "scale_up/2/ingress", "nic/1/egress", "nic/3/ingress"]
    assert path(made, 9, 0) == ["scale_up/9/egress", "scale_up/4/ingress", "nic/2/egress", "nic/0/ingress"]
    assert path(made, 2, 6) == ["scale_up/2/egress", "scale_up/0/ingress", "nic/0/egress", "nic/2/ingress"]


def test_an_explicit_map_decides_the_rails() -> None:
    made = topology(scale_out={"gpu_to_nic": [1, 0, 0, 1]})
    assert path(made, 0, 7) == ["nic/1/egress", "nic/3/ingress"]
    assert path(made, 0, 5) == ["scale_up/0/egress", "scale_up/1/ingress", "nic/0/egress", "nic/2/ingress"]


def test_the_message_gap_counts_at_the_tightest_port() -> None:
    made = topology(
        scale_out={"message_gap": "1 us"}, overrides=[{"target": "scale_up/3/ingress", "bandwidth": "1 GB/s"}]
    )
    assert made.routes([1, 1], [7, 6]).overhead_bytes.tolist() == pytest.approx([1e3, 10e3])


def test_each_rank_has_its_nic() -> None:
    assert topology().inter_island_bytes_per_s.tolist() == [10e9] * 8
