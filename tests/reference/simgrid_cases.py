"""The cases that SimGrid was given, in plain Python: `record_simgrid.py` runs where the project is not installed."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A cluster of islands, and traffic drawn with `random.Random(name)`. Rates in bytes a second."""

    name: str
    islands: tuple[int, ...]
    scale_up: float
    nic: float
    nics_per_island: int | None = None  # None: one a rank
    pair_cap: float | None = None  # inside islands
    leaf: tuple[int, float] | None = None  # islands below a leaf, and the rate of its up and its down link
    sigma: float = 1.0  # of the lognormal bytes; 0 is even
    kept: float = 1.0  # share of the pairs that send at all
    start_s: tuple[float, ...] = (0.0,)  # each flow starts at one of these

    @property
    def island_of(self) -> list[int]:
        return [island for island, size in enumerate(self.islands) for _ in range(size)]

    def flows(self) -> list[tuple[int, int, int, float]]:
        """(source, destination, bytes, start) of every flow."""
        draw = random.Random(self.name)
        ranks = range(sum(self.islands))
        return [
            (
                source,
                destination,
                1 + int(1e6 * draw.lognormvariate(0, self.sigma)),
                draw.choice(self.start_s),
            )
            for source in ranks
            for destination in ranks
            if source != destination and draw.random() < self.kept
        ]


CASES = (
    Case("even_on_one_switch", (4,), 1e9, 1e9, sigma=0.0),
    Case("skewed_on_one_switch", (8,), 1e9, 1e9),
    Case("two_islands", (4, 4), 4e9, 1e9),
    Case("unequal_islands", (5, 2, 1), 3e9, 1e9, sigma=1.5),
    Case("shared_nics", (4, 4, 4), 4e9, 1e9, nics_per_island=2),
    Case("one_nic_an_island", (3, 3), 2e9, 1e9, nics_per_island=1, kept=0.6),
    Case("pair_cap", (8,), 4e9, 1e9, pair_cap=1.1e9),
    Case("leaf_links", (2, 2, 2, 2), 4e9, 1e9, leaf=(2, 1.6e9)),
    Case("sparse", (4, 4, 4, 4), 4e9, 1e9, sigma=2.0, kept=0.25),
    Case("different_starts", (4, 4), 4e9, 1e9, start_s=(0.0, 0.001, 0.0025, 0.004)),
)
