import pytest

from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Topology


def topology(islands: object = 4, per_leaf: int = 2, ratio: object = "2:1", **keys: object) -> Topology:
    sizes = {"gpus_per_island": 2} if isinstance(islands, int) else {}
    scale_out = {
        "nic_bandwidth": "10 GB/s",
        "latency": "2 us",
        "fabric": {"kind": "leaf_spine", "islands_per_leaf": per_leaf, "oversubscription": ratio},
    }
    return build_topology(
        TopologySpec.model_validate(
            {
                "name": "t",
                "islands": islands,
                "scale_up": {"bandwidth": "100 GB/s"},
                "scale_out": scale_out | keys.pop("scale_out", {}),  # type: ignore[operator]
                **sizes,
                **keys,
            }
        )
    )


def path(made: Topology, source: int, destination: int) -> list[str]:
    return [
        made.resources.names[hop] for hop in made.routes([source], [destination]).resources[0] if hop >= 0
    ]


def links(made: Topology) -> dict[str, float]:
    pairs = zip(made.resources.names, made.resources.capacity_bytes_per_s.tolist(), strict=True)
    return {name: capacity for name, capacity in pairs if name.startswith("leaf")}


def test_uplinks_are_the_nics_below_over_the_oversubscription() -> None:
    assert links(topology()) == {
        "leaf/0/up": 20e9,
        "leaf/0/down": 20e9,
        "leaf/1/up": 20e9,
        "leaf/1/down": 20e9,
    }
    assert links(topology(ratio="8:1"))["leaf/1/up"] == 5e9
    assert links(topology(ratio="1:1"))["leaf/1/up"] == 40e9


def test_the_last_leaf_may_have_fewer_islands() -> None:
    made = topology(islands=[2, 2, 4, 1, 1], per_leaf=2, ratio="1:1")
    assert links(made) == {
        "leaf/0/up": 40e9,
        "leaf/0/down": 40e9,
        "leaf/1/up": 50e9,
        "leaf/1/down": 50e9,
        "leaf/2/up": 10e9,
        "leaf/2/down": 10e9,
    }


def test_efficiency_lowers_uplinks_and_overrides_of_nics_do_not() -> None:
    made = topology(
        scale_out={"efficiency": 0.5},
        overrides=[
            {"target": "nic/0", "bandwidth": "1 GB/s"},
            {"target": "leaf/1/up", "bandwidth": "4 GB/s"},
        ],
    )
    assert links(made) == {"leaf/0/up": 10e9, "leaf/0/down": 10e9, "leaf/1/up": 2e9, "leaf/1/down": 10e9}


def test_paths_below_one_leaf_and_across() -> None:
    made = topology()
    assert path(made, 0, 1) == ["scale_up/0/egress", "scale_up/1/ingress"]
    assert path(made, 0, 3) == ["nic/0/egress", "nic/3/ingress"]
    assert path(made, 0, 5) == ["nic/0/egress", "leaf/0/up", "leaf/1/down", "nic/5/ingress"]
    assert path(made, 6, 3) == ["nic/6/egress", "leaf/1/up", "leaf/0/down", "nic/3/ingress"]


def test_latency_is_one_for_all_between_islands() -> None:
    assert topology().routes([0, 0], [3, 5]).latency_s.tolist() == [2e-6, 2e-6]


def test_the_message_gap_counts_at_nics_not_at_links() -> None:
    made = topology(ratio="40:1", scale_out={"message_gap": "1 us"})
    assert links(made)["leaf/0/up"] == 1e9
    assert made.routes([0], [5]).overhead_bytes.tolist() == pytest.approx([10e3])


def test_bytes_of_all_ranks_share_the_uplink() -> None:
    # Of the 6 ranks in other islands, 4 are below the other leaf; the uplink of 20 GB/s serves 4 ranks.
    assert topology().inter_island_bytes_per_s.tolist() == pytest.approx([20e9 / (4 * 4 / 6)] * 8)
    assert topology(ratio="1:1").inter_island_bytes_per_s.tolist() == [10e9] * 8


def test_unequal_islands_share_an_uplink_by_what_leaves_it() -> None:
    made = topology(islands=[3, 1, 4], per_leaf=2, ratio="4:1")
    # Of 8 ranks, 4 are below the other leaf: 4/5 of what ranks 0 to 2 send leaves the leaf, 4/7 of what rank 3 sends.
    assert made.inter_island_bytes_per_s[:4].tolist() == pytest.approx([10e9 / (3 * 4 / 5 + 4 / 7)] * 4)
    assert made.inter_island_bytes_per_s[4:].tolist() == pytest.approx([10e9 / 4] * 4)


def test_one_leaf_for_all_limits_nothing() -> None:
    made = topology(per_leaf=4, ratio="100:1")
    assert made.inter_island_bytes_per_s.tolist() == [10e9] * 8
    assert len(links(made)) == 2


def test_leaves_of_one_island_each() -> None:
    made = topology(per_leaf=1, ratio="4:1")
    assert path(made, 0, 3) == ["nic/0/egress", "leaf/0/up", "leaf/1/down", "nic/3/ingress"]
    assert made.inter_island_bytes_per_s.tolist() == [2.5e9] * 8


def test_one_island_alone() -> None:
    assert topology(islands=1, per_leaf=1).inter_island_bytes_per_s.tolist() == [10e9] * 2
