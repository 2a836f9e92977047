import numpy as np
import pytest

from simulator.topology.members import Members, derived_gpu_to_nic, island_gpu_to_nic, members_of
from simulator.topology.spec import TopologySpec


def members(islands: object, scale_out: dict[str, object] | None = None, **keys: object) -> Members:
    return members_of(spec(islands, scale_out, **keys))


def spec(islands: object, scale_out: dict[str, object] | None = None, **keys: object) -> TopologySpec:
    return TopologySpec.model_validate(
        {
            "name": "t",
            "islands": islands,
            "scale_up": {"bandwidth": "300 GB/s"},
            "scale_out": {"nic_bandwidth": "25 GB/s", **(scale_out or {})},
            **keys,
        }
    )


@pytest.mark.parametrize(
    ("gpus", "nics", "expected"),
    [
        (1, 1, [[0]]),
        (4, 4, [[0], [1], [2], [3]]),
        (8, 4, [[0], [0], [1], [1], [2], [2], [3], [3]]),
        (8, 2, [[0], [0], [0], [0], [1], [1], [1], [1]]),
        (8, 1, [[0]] * 8),
        (5, 2, [[0], [0], [0], [1], [1]]),
        (7, 3, [[0], [0], [0], [1], [1], [2], [2]]),
        (2, 4, [[0, 1], [2, 3]]),
        (4, 8, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (3, 8, [[0, 1, 2], [3, 4, 5], [6, 7]]),
        (1, 4, [[0, 1, 2, 3]]),
    ],
)
def test_derived_gpu_to_nic(gpus: int, nics: int, expected: list[list[int]]) -> None:
    assert [list(entry) for entry in derived_gpu_to_nic(gpus, nics)] == expected


@pytest.mark.parametrize("gpus", range(1, 13))
@pytest.mark.parametrize("nics", range(1, 13))
def test_derived_maps_use_every_nic_evenly(gpus: int, nics: int) -> None:
    entries = derived_gpu_to_nic(gpus, nics)
    used = [nic for entry in entries for nic in entry]
    assert len(entries) == gpus
    assert sorted(set(used)) == list(range(nics))
    counts = np.bincount(used) if nics <= gpus else np.array([len(entry) for entry in entries])
    assert counts.max() - counts.min() <= 1


def test_equal_islands() -> None:
    made = members(3, gpus_per_island=2)
    assert made.islands == ((0, 1), (2, 3), (4, 5))
    assert made.island_of.tolist() == [0, 0, 1, 1, 2, 2]
    assert made.local_index.tolist() == [0, 1, 0, 1, 0, 1]
    assert made.host_of.tolist() == [0, 0, 1, 1, 2, 2]
    assert made.port_of.tolist() == [0, 1, 2, 3, 4, 5]
    assert made.port_nics == ((0,), (1,), (2,), (3,), (4,), (5,))
    assert made.nic_island.tolist() == [0, 0, 1, 1, 2, 2]
    assert (made.world_size, made.nic_count) == (6, 6)


def test_unequal_islands() -> None:
    made = members([3, 1, 2])
    assert made.islands == ((0, 1, 2), (3,), (4, 5))
    assert made.island_of.tolist() == [0, 0, 0, 1, 2, 2]
    assert made.local_index.tolist() == [0, 1, 2, 0, 0, 1]
    assert made.port_of.tolist() == [0, 1, 2, 3, 4, 5]
    assert made.port_rail.tolist() == [0, 1, 2, 0, 0, 1]
    assert made.port_island.tolist() == [0, 0, 0, 1, 2, 2]


def test_arrays_are_small_integers() -> None:
    made = members([3, 1, 2])
    for array in (
        made.island_of,
        made.local_index,
        made.host_of,
        made.port_of,
        made.port_rail,
        made.nic_island,
    ):
        assert array.dtype == np.int32


@pytest.mark.parametrize(
    ("islands", "per_island", "per_host", "expected"),
    [
        (2, 4, None, [0] * 4 + [1] * 4),
        (2, 4, 2, [0, 0, 1, 1, 2, 2, 3, 3]),
        (2, 4, 4, [0] * 4 + [1] * 4),
        (4, 2, 4, [0] * 4 + [1] * 4),
        ([4, 2], None, 2, [0, 0, 1, 1, 2, 2]),
        ([4, 3], None, 4, [0, 0, 0, 0, 1, 1, 1]),
    ],
)
def test_hosts(islands: object, per_island: int | None, per_host: int | None, expected: list[int]) -> None:
    keys = {"gpus_per_island": per_island, "gpus_per_host": per_host}
    given = {key: value for key, value in keys.items() if value is not None}
    assert members(islands, **given).host_of.tolist() == expected


def test_an_nvl72_rack_has_eighteen_hosts() -> None:
    made = members(2, gpus_per_island=72, gpus_per_host=4)
    assert np.bincount(made.host_of).tolist() == [4] * 36


def test_shared_nics() -> None:
    made = members(2, {"nics_per_island": 2}, gpus_per_island=4)
    assert made.port_of.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert made.port_nics == ((0,), (1,), (2,), (3,))


def test_bonded_nics() -> None:
    made = members(2, {"nics_per_island": 4}, gpus_per_island=2)
    assert made.port_of.tolist() == [0, 1, 2, 3]
    assert made.port_nics == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert made.nic_count == 8


def test_explicit_map() -> None:
    made = members(2, {"nics_per_island": 3, "gpu_to_nic": [2, 0, [0], 2]}, gpus_per_island=4)
    assert made.port_nics == ((0,), (2,), (3,), (5,))
    assert made.port_of.tolist() == [1, 0, 0, 1, 3, 2, 2, 3]
    assert made.nic_count == 6  # the second of each island is idle


def test_explicit_map_alone_tells_the_number_of_nics() -> None:
    made = members([4, 2], {"gpu_to_nic": [0, 0, 1, 1]})
    assert made.nic_island.tolist() == [0, 0, 1]
    assert made.port_of.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_smaller_island_uses_the_first_entries_of_the_map() -> None:
    made = spec([3, 2], {"nics_per_island": 4, "gpu_to_nic": [[0, 1], 2, 3]})
    assert island_gpu_to_nic(made, 3, 4) == ((0, 1), (2,), (3,))
    assert island_gpu_to_nic(made, 2, 4) == ((0, 1), (2,))


def test_nics_by_island() -> None:
    made = members([4, 2], {"nics_per_island": [2, 2]})
    assert made.port_of.tolist() == [0, 0, 1, 1, 2, 3]


def test_without_scale_out_there_are_no_ports() -> None:
    made = members_of(
        TopologySpec.model_validate(
            {"name": "t", "islands": 1, "gpus_per_island": 3, "scale_up": {"bandwidth": "1 GB/s"}}
        )
    )
    assert made.port_of.tolist() == []
    assert made.port_nics == ()
    assert made.nic_count == 0
    assert made.islands == ((0, 1, 2),)
