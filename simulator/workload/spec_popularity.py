"""The schema of row popularity."""

import itertools
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from simulator.config.errors import Finding, refuse
from simulator.config.model import StrictModel
from simulator.config.types import NonNegative, PositiveCount, PositiveShare, Text, parse_number

MOST_HITTERS = 65_536


class EqualHittersSpec(StrictModel):
    """Some rows that share a part of the lookups evenly."""

    count: PositiveCount = Field(le=MOST_HITTERS, description="rows; required")
    share: PositiveShare = Field(description="share of all lookups on them together; required")

    @property
    def shares(self) -> tuple[float, ...]:
        return (self.share / self.count,) * self.count


HitterList = Annotated[tuple[PositiveShare, ...], Field(max_length=MOST_HITTERS)]


class ZipfSpec(StrictModel):
    """Zipf-Mandelbrot: the row of rank x = 1, 2, ... has weight (x + q)^-s."""

    kind: Literal["zipf"]
    s: NonNegative = Field(le=1000, description="exponent, 0 is uniform; required")
    q: Annotated[float, BeforeValidator(parse_number)] = Field(
        0.0, gt=-1, le=1e15, description="flattens the hottest rows; default 0"
    )
    heavy_hitters: EqualHittersSpec | HitterList = Field(
        (), description="rows with shares of their own, {count, share} or a list of shares; default none"
    )

    @property
    def hitter_shares(self) -> tuple[float, ...]:
        hitters = self.heavy_hitters
        return (
            hitters.shares if isinstance(hitters, EqualHittersSpec) else tuple(sorted(hitters, reverse=True))
        )

    @model_validator(mode="after")
    def _room_for_the_rest(self) -> "ZipfSpec":
        if sum(self.hitter_shares) >= 1.0:
            refuse(
                [
                    Finding(
                        ("heavy_hitters",),
                        f"shares add up to {sum(self.hitter_shares):g}, allowed is below 1",
                    )
                ]
            )
        return self


class UniformSpec(StrictModel):
    """All touched rows are equally popular."""

    kind: Literal["uniform"]


class LocalitySpec(StrictModel):
    """The skew of a locality histogram, over the table's touched rows."""

    kind: Literal["locality"]
    path: Text = Field(
        description="a file in the format of dlrm_datasets, beside the workload file; required"
    )


class RankFrequencySpec(StrictModel):
    """Measured frequencies by rank; the file says how many rows are touched."""

    kind: Literal["rank_frequency"]
    path: Text = Field(description="a CSV file with the columns rank,frequency; required")


class CumulativeSpec(StrictModel):
    """A measured curve: the hottest rows[k] rows hold shares[k] of the lookups; rows between two points are alike."""

    kind: Literal["cumulative"]
    rows: tuple[PositiveCount, ...] = Field(description="ascending; the last is the touched rows")
    shares: tuple[PositiveShare, ...] = Field(description="ascending; the last is 1")

    @model_validator(mode="after")
    def _a_curve(self) -> "CumulativeSpec":
        if len(self.shares) != len(self.rows):
            refuse([Finding(("shares",), f"{len(self.shares)} shares for {len(self.rows)} numbers of rows")])
        if not self.rows:
            refuse([Finding(("rows",), "there is no point")])
        edges = list(zip((0, *self.rows), (0.0, *self.shares), strict=True))
        widths = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(edges)]
        if any(rows <= 0 for rows, _ in widths):
            refuse([Finding(("rows",), "must ascend")])
        heats = [share / rows for rows, share in widths]
        if any(later > earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(heats)) or heats[-1] < 0:
            refuse([Finding(("shares",), "must ascend, and ever more slowly: hotter rows come first")])
        if abs(self.shares[-1] - 1.0) > 1e-9:
            refuse([Finding(("shares",), f"the last is {self.shares[-1]:g}, it must be 1")])
        return self


PopularitySpec = Annotated[
    ZipfSpec | UniformSpec | LocalitySpec | RankFrequencySpec | CumulativeSpec, Field(discriminator="kind")
]
