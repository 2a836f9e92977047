"""How many distinct rows an owner's lookups hit."""

import itertools

import numpy as np
import pytest

from simulator.arrays import FloatArray
from simulator.seeds import generator
from simulator.traffic.occupancy import NUMBERS, Chances, Occupancy
from simulator.traffic.owners import owners_of
from simulator.workload.distinct import expected_distinct
from simulator.workload.lengths import fixed
from simulator.workload.popularity.uniform import Uniform
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.table import Table


def of_rows(*owners: list[float]) -> Occupancy:
    """Each owner's rows one by one, with the chances of its lookups."""
    chances = np.array([chance for rows in owners for chance in rows])
    owner = np.repeat(np.arange(len(owners)), [len(rows) for rows in owners])
    no_blocks = np.zeros((len(owners), 0))
    return Occupancy(
        owner, Chances(np.ones(len(chances), dtype=np.int64), chances), Chances(no_blocks, no_blocks)
    )


def of_table(popularity: Uniform | ZipfMandelbrot, *, owners: int = 1, heads: int = 1_000) -> Occupancy:
    table = Table("items", popularity.rows, 4, popularity, fixed(1))
    return owners_of(table, 0, popularity.rows, owners, heads=heads, seed=1).occupancy


def enumerated(chances: list[float], lookups: int) -> tuple[float, float]:
    """Mean and variance over every sequence of lookups."""
    numbers, weights = [], []
    for rows in itertools.product(range(len(chances)), repeat=lookups):
        numbers.append(len(set(rows)))
        weights.append(np.prod([chances[row] for row in rows]))
    mean = float(np.average(numbers, weights=weights))
    return mean, float(np.average((np.array(numbers) - mean) ** 2, weights=weights))


@pytest.mark.parametrize("chances", [[0.5, 0.3, 0.2], [0.25] * 4, [0.9, 0.1], [0.97, 0.01, 0.01, 0.01]])
@pytest.mark.parametrize("lookups", [0, 1, 2, 3, 5, 7])
def test_mean_is_that_of_every_sequence(chances: list[float], lookups: int) -> None:
    mean, variance = of_rows(chances).moments(np.array([[lookups]]))
    exact_mean, exact_variance = enumerated(chances, lookups)
    assert mean[0, 0] == pytest.approx(exact_mean, abs=1e-12)
    assert variance[0, 0] == pytest.approx(exact_variance, abs=0.02)


@pytest.mark.parametrize(
    "popularity", [Uniform(1_000_000), ZipfMandelbrot(10_000_000, 0.9), ZipfMandelbrot(5_000, 1.3)]
)
def test_mean_follows_the_exact_sum_between_the_numbers_that_are_kept(
    popularity: Uniform | ZipfMandelbrot,
) -> None:
    lookups = np.unique(np.geomspace(1, 3_000_000, 400).astype(np.int64))
    mean, _ = of_table(popularity).moments(lookups[:, None])
    assert np.allclose(mean[:, 0], expected_distinct(popularity.blocks(1_000), lookups), rtol=1e-4)


def test_owners_add_up_to_the_table() -> None:
    """Lookups divided in proportion hit, over all owners, as many rows as the table's lookups do."""
    popularity = ZipfMandelbrot(1_000_000, 1.05, 2.75)
    table = Table("items", popularity.rows, 4, popularity, fixed(1))
    owners = owners_of(table, 0, table.rows, 16, heads=1_000, seed=1)
    lookups = np.round(5_000_000 * owners.shares).astype(np.int64)
    mean, _ = owners.occupancy.moments(lookups[None, :])
    assert mean.sum() == pytest.approx(
        float(expected_distinct(popularity.blocks(1_000), 5_000_000)), rel=1e-4
    )


@pytest.mark.parametrize("lookups", [0, 1, 2, 10, 1_000_000])
def test_all_lookups_on_one_row(lookups: int) -> None:
    drawn = of_rows([1.0]).draw(generator(1, "test"), np.full((50, 1), lookups))
    assert (drawn == min(lookups, 1)).all()


def test_all_lookups_on_different_rows() -> None:
    occupancy = of_table(Uniform(10**15), owners=4)
    lookups = generator(1, "test").integers(0, 5_000, (200, 4))
    assert (occupancy.draw(generator(2, "test"), lookups) == lookups).all()


def test_all_rows_hit() -> None:
    drawn = of_table(Uniform(1_003), owners=4).draw(generator(1, "test"), np.full((50, 4), 1_000_000))
    assert (drawn == [251, 251, 251, 250]).all()


def test_one_owner_without_rows_beside_others() -> None:
    occupancy = of_table(Uniform(5), owners=4)
    drawn = occupancy.draw(generator(1, "test"), np.array([[40, 40, 40, 0]] * 20))
    assert (drawn == [2, 2, 1, 0]).all()


def simulated(chances: FloatArray, lookups: int, rounds: int) -> FloatArray:
    rows = generator(3, "simulated").choice(len(chances), (rounds, lookups), p=chances)
    return np.array([len(np.unique(each)) for each in rows], dtype=np.float64)


@pytest.mark.parametrize(
    ("s", "lookups"), [(0.0, 30), (0.0, 300), (1.0, 5), (1.0, 60), (1.0, 2_000), (1.3, 400)]
)
def test_draws_have_the_mean_and_spread_of_lookups_drawn_alone(s: float, lookups: int) -> None:
    popularity = ZipfMandelbrot(200, s)
    chances = np.asarray(popularity.share_between(np.arange(200), np.arange(1, 201)))
    rounds = 4_000
    alone = simulated(chances / chances.sum(), lookups, rounds)
    drawn = of_table(popularity).draw(generator(4, "test"), np.full((rounds, 1), lookups))[:, 0]
    error = np.sqrt((alone.var() + drawn.var()) / rounds)
    assert abs(drawn.mean() - alone.mean()) < 4 * error
    if lookups > 5:  # a handful is cut off at the number of lookups
        assert drawn.std() == pytest.approx(alone.std(), rel=0.08)


@pytest.mark.parametrize("chances", [[0.9, 0.1], [0.97, 0.01, 0.01, 0.01], [0.5, 0.5]])
@pytest.mark.parametrize("lookups", [2, 3])
def test_a_mean_between_two_numbers_is_kept_by_rounding_both_ways(chances: list[float], lookups: int) -> None:
    """A few hundredths of a row above 1 must not always be 1."""
    drawn = of_rows(chances).draw(generator(5, "test"), np.full((40_000, 1), lookups))
    assert drawn.mean() == pytest.approx(enumerated(chances, lookups)[0], abs=0.012)


def test_draws_lie_between_one_and_the_lookups() -> None:
    lookups = generator(1, "test").integers(0, 40, (2_000, 8))
    drawn = of_table(ZipfMandelbrot(300, 1.0), owners=8).draw(generator(2, "test"), lookups)
    assert (drawn <= lookups).all()
    assert (drawn >= np.minimum(lookups, 1)).all()
    assert drawn.dtype == np.int64


def test_a_few_numbers_are_worked_out_whatever_is_asked() -> None:
    occupancy = of_table(ZipfMandelbrot(10**12, 1.0))
    occupancy.moments(np.arange(0, 1_000_000, 7)[:, None])
    assert len(occupancy._known) < 70
    assert len(NUMBERS) < 200


def test_single_numbers_and_tables_of_numbers_agree() -> None:
    """Few numbers are looked up one by one, many by value."""
    occupancy = of_table(ZipfMandelbrot(50_000, 1.0), owners=2)
    many = generator(1, "test").integers(0, 100, (500, 2))
    mean, variance = occupancy.moments(many)
    for row in range(0, 500, 50):
        one_mean, one_variance = occupancy.moments(many[row : row + 1])
        assert (mean[row] == one_mean[0]).all()
        assert (variance[row] == one_variance[0]).all()
