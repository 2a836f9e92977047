"""What requests weigh, and where the entries of a tally land in the matrix."""

import numpy as np
import pytest

from simulator.sharding import layouts
from simulator.topology.build import uniform_topology
from simulator.traffic.readers import readers_of
from simulator.traffic.tally import Requests, Tally

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1e11, nic_bytes_per_s=1e10)


def test_a_request_is_its_ids_under_a_header() -> None:
    requests = Requests.none(2, 3)
    requests.add(np.array([[0, 1, 5], [2, 0, 0]]), np.array([4, 4, 4]), np.array([[40], [80]]))
    assert requests.request_bytes.tolist() == [[0, 48, 80], [96, 0, 0]]
    assert requests.elements.tolist() == [[0, 4, 20], [8, 0, 0]]
    requests.add(np.array([[1, 0, 0], [0, 0, 0]]), np.array([10, 10, 10]), 4)
    assert requests.request_bytes.tolist() == [[12, 48, 80], [96, 0, 0]]
    assert requests.elements.tolist() == [[10, 4, 20], [8, 0, 0]]


def test_an_owner_of_no_column_is_asked_nothing() -> None:
    requests = Requests.none(1, 2)
    requests.add(np.array([[7, 7]]), np.array([3, 0]), 4)
    assert requests.request_bytes.tolist() == [[60, 0]]
    assert requests.elements.tolist() == [[21, 0]]


def spread(tally: Tally) -> tuple[Requests, Requests]:
    asked, gathered = Requests.none(4, 4), Requests.none(4, 4)
    tally.spread(asked, gathered)
    return asked, gathered


def test_readers_ask_owners() -> None:
    (readers,) = readers_of(layouts.global_owners(4, (2, 0)), TOPOLOGY)
    tally = Tally(readers, pooled=False)
    tally.add(np.array([[1, 2], [3, 4], [5, 6], [7, 8]]), np.array([1, 1]), 0)
    asked, gathered = spread(tally)
    assert asked.elements.tolist() == [[2, 0, 1, 0], [4, 0, 3, 0], [6, 0, 5, 0], [8, 0, 7, 0]]
    assert not gathered.elements.any()


def test_one_number_goes_to_all_owners_of_columns() -> None:
    (readers,) = readers_of(layouts.column_owners(4, (1, 3)), TOPOLOGY)
    tally = Tally(readers, pooled=False)
    tally.add(np.array([[1], [2], [0], [3]]), np.array([2, 1]), 4)
    asked, _ = spread(tally)
    assert asked.elements.tolist() == [[0, 2, 0, 1], [0, 4, 0, 2], [0] * 4, [0, 6, 0, 3]]
    assert asked.request_bytes.tolist() == [[0, 12, 0, 12], [0, 20, 0, 20], [0] * 4, [0, 28, 0, 28]]


def test_pools_ask_through_mates() -> None:
    """Ranks 0, 1 | 2, 3; rank 3 owns all. Ranks 0 and 1 ask rank 1, who asks 3; 2 and 3 ask 3 themselves."""
    (readers,) = readers_of(layouts.single_owner(4, 3), TOPOLOGY)
    tally = Tally(readers, pooled=True)
    assert tally.pooled
    tally.add(np.array([[5], [6], [7], [8]]), np.array([1]), 0)
    tally.add_pooled(np.array([[9], [10]]), np.array([1]))
    asked, gathered = spread(tally)
    assert gathered.elements.tolist() == [[0, 5, 0, 0], [0, 6, 0, 0], [0] * 4, [0] * 4]
    assert asked.elements.tolist() == [[0] * 4, [0, 0, 0, 9], [0, 0, 0, 7], [0, 0, 0, 8]]
    assert asked.request_bytes[1, 3] == 9 * 8 + 4


def test_copies_inside_islands_need_no_pools() -> None:
    (readers,) = readers_of(layouts.island(TOPOLOGY), TOPOLOGY)
    assert not Tally(readers, pooled=True).pooled


@pytest.mark.parametrize("pooled", [False, True])
def test_counts_of_a_whole_cluster_do_not_overflow_or_round(pooled: bool) -> None:
    (readers,) = readers_of(layouts.single_owner(4, 0), TOPOLOGY)
    tally = Tally(readers, pooled=pooled)
    large = (1 << 52) + 1
    tally.add(np.full((4, 1), large), np.array([128]), 4)
    if pooled:
        tally.add_pooled(np.full((2, 1), large), np.array([128]))
    asked, _ = spread(tally)
    assert asked.elements[0, 0] == large * 128
    assert asked.request_bytes[0, 0] == large * 8 + 4
