"""The compiled draws of distinct rows against the same in plain numpy, bit for bit."""

import numpy as np
import pytest

from simulator.arrays import FloatArray, IntArray
from simulator.seeds import generator
from simulator.sharding.layouts import global_rows
from simulator.topology.build import build_topology
from simulator.topology.spec import ScaleOutSpec, ScaleUpSpec, TopologySpec
from simulator.traffic.occupancy import NUMBERS, SMALL, Occupancy
from simulator.traffic.owners import owners_of
from simulator.traffic.readers import readers_of
from simulator.workload.lengths import fixed
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table

OWNERS = 12


def occupancy() -> Occupancy:
    popularity = ZipfMandelbrot(200_000, 1.15, 2.75)
    table = Table("items", popularity.rows, 4, popularity, fixed(1))
    return owners_of(table, 0, table.rows, OWNERS, heads=2_000, seed=1).occupancy


def plain_moments(of: Occupancy, lookups: int, owner: int) -> tuple[float, float]:
    """Mean and variance at one of `NUMBERS`, summed over this owner's rows alone."""
    pieces = of.piece_owner == owner
    places = [
        (of.pieces.rows[pieces].astype(float), of.pieces.chance[pieces]),
        (of.blocks.rows[owner], of.blocks.chance[owner]),
    ]
    hit = own = first = second = 0.0
    for rows, chance in places:
        missed = np.exp(lookups * np.log1p(-chance))
        odds = chance / (1 - chance)
        hit += (rows * (1 - missed)).sum()
        pairs = lookups * (lookups - 1) / 2
        own += (
            rows * ((1 - missed) * missed + lookups * (missed * odds) ** 2 - pairs * (missed * odds**2) ** 2)
        ).sum()
        first += (rows * missed * odds).sum()
        second += (rows * missed * odds**2).sum()
    return float(hit), float(own - lookups * first**2 + lookups * (lookups - 1) / 2 * second**2)


def plain_draw(of: Occupancy, rng: np.random.Generator, lookups: IntArray) -> IntArray:
    """As `Occupancy.draw` says it, in whole arrays."""
    mean, variance = of.moments(lookups)
    over = mean - np.floor(mean)
    rounding = np.where(variance < 1 / 4, over * (1.0 - over), 1 / 6)
    spread = np.sqrt(np.maximum(variance - rounding, 0.0))
    value: FloatArray = mean + spread * rng.standard_normal(mean.shape) + rng.random(mean.shape)
    most = np.minimum(lookups, of._rows)
    return np.clip(np.floor(value).astype(np.int64), np.minimum(most, 1), most)


LOOKUPS = {
    "few": np.arange(8 * OWNERS).reshape(8, OWNERS) % 11,
    "many": np.random.default_rng(3).integers(0, 5_000, (40, OWNERS)),
    "beyond the list": np.random.default_rng(4).integers(0, 50 * SMALL, (6, OWNERS)),
    "none": np.zeros((3, OWNERS), np.int64),
}


@pytest.mark.parametrize("case", LOOKUPS)
def test_draws_are_those_of_plain_arrays(case: str) -> None:
    drawn = occupancy().draw(generator(5, "test"), LOOKUPS[case])
    assert (drawn == plain_draw(occupancy(), generator(5, "test"), LOOKUPS[case])).all()


@pytest.mark.parametrize("number", [2, 7, 12, 51, 1_000])
def test_moments_are_sums_over_an_owners_rows(number: int) -> None:
    number = int(NUMBERS[number >= NUMBERS][-1])
    mean, variance = occupancy().moments(np.full((1, OWNERS), number))
    for owner in range(OWNERS):
        exact_mean, exact_variance = plain_moments(occupancy(), number, owner)
        assert mean[0, owner] == pytest.approx(exact_mean, rel=1e-10)
        assert variance[0, owner] == pytest.approx(max(exact_variance, 0.0), rel=1e-6, abs=1e-9)


def test_it_does_not_matter_which_owners_were_asked_before() -> None:
    """Moments are worked out for the owners that need them; others may follow."""
    at_once, one_by_one = occupancy(), occupancy()
    lookups = LOOKUPS["many"]
    whole = at_once.moments(lookups)
    for owner in range(OWNERS):
        alone = np.zeros_like(lookups)
        alone[:, owner] = lookups[:, owner]
        one_by_one.moments(alone)
    for first, second in zip(whole, one_by_one.moments(lookups), strict=True):
        assert (first == second).all()


@pytest.mark.parametrize("sizes", [(4,), (3, 3), (1, 4, 2)])
def test_pools_add_up_and_compare_rank_by_rank(sizes: tuple[int, ...]) -> None:
    topology = build_topology(
        TopologySpec(
            name="any",
            islands=sizes,
            scale_up=ScaleUpSpec(bandwidth="10 GB/s"),
            scale_out=ScaleOutSpec(nic_bandwidth="1 GB/s"),
        )
    )
    (readers,) = readers_of(global_rows(topology), topology)
    values = np.random.default_rng(1).integers(0, 100, (sum(sizes), 5))
    pools = np.split(values, np.cumsum(sizes)[:-1])
    assert (readers.pooled_sum(values) == [pool.sum(axis=0) for pool in pools]).all()
    assert (readers.pooled_max(values) == [pool.max(axis=0) for pool in pools]).all()
