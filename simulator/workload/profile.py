"""What matters of a trace or a locality histogram: skew, lengths, reuse, drift, and a workload that reproduces it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from simulator.arrays import BoolArray, IntArray
from simulator.workload.fit import LengthFit, fit_lognormal, fit_repeats, fit_zipf, fit_zipf_mandelbrot
from simulator.workload.lengths import LengthDistribution, empirical
from simulator.workload.popularity.histogram import from_locality
from simulator.workload.popularity.runs import Runs, from_counts
from simulator.workload.popularity.shares import Popularity
from simulator.workload.popularity.zipf import ZipfMandelbrot
from simulator.workload.reproduce import workload_yaml
from simulator.workload.traces.locality import read_locality
from simulator.workload.traces.measure import Measured, measure_trace
from simulator.workload.traces.source import TraceSource

TOP_PARTS = (0.001, 0.01, 0.1)  # of the touched rows
LENGTH_QUANTILES = (0.5, 0.9, 0.99)
BATCH_SEQUENCES = 512


@dataclass(frozen=True, eq=False)
class LengthProfile:
    """Lengths of sequences and what repeats inside them."""

    distribution: LengthDistribution
    quantiles: tuple[int, ...]  # at LENGTH_QUANTILES
    fit: LengthFit | None  # None: lengths hardly vary
    lookups_per_distinct: float  # inside a sequence, mean over sequences
    repeat_share: float  # of later lookups that repeat an id of the sequence beyond chance


@dataclass(frozen=True, eq=False)
class DriftProfile:
    """How the hot rows of the file's first half do in its second. One entry for each of TOP_PARTS."""

    planned_shares: tuple[float, ...]  # first half's lookups on its own hottest rows
    achieved_shares: tuple[float, ...]  # second half's lookups on those rows
    possible_shares: tuple[float, ...]  # second half's lookups on its own hottest rows, as many


@dataclass(frozen=True, eq=False)
class Profile:
    """A profile. What a histogram cannot tell is None."""

    name: str
    lookups: int
    popularity: Runs
    top_shares: tuple[float, ...]  # at TOP_PARTS
    zipf: ZipfMandelbrot  # q = 0
    zipf_mandelbrot: ZipfMandelbrot
    batch_samples: int
    lookups_per_distinct_row: float | None  # in one batch; None: the file is shorter than a batch
    sequences: int | None = None
    dropped: int = 0
    lengths: LengthProfile | None = None
    drift: DriftProfile | None = None

    @property
    def rows_touched(self) -> int:
        return self.popularity.rows

    def to_workload_yaml(
        self, *, style: Literal["measured", "fitted"] = "measured", batch_per_rank: int = 512, dim: int = 128
    ) -> str:
        """The text of a workload file that draws what was measured, or the laws fitted to it."""
        return workload_yaml(self, style=style, batch_per_rank=batch_per_rank, dim=dim)


def profile_trace(source: TraceSource, *, batch_sequences: int = BATCH_SEQUENCES) -> Profile:
    """Measure a trace in one streamed pass. Raises UserError with the line of what its format does not allow."""
    measured = measure_trace(source, batch_sequences=batch_sequences)
    first, second = measured.halves.counts
    reuse = measured.reuse
    popularity = from_counts(first + second)
    return Profile(
        name=source.path.stem,
        lookups=int(first.sum() + second.sum()),
        popularity=popularity,
        top_shares=top_shares(popularity),
        zipf=fit_zipf(popularity),
        zipf_mandelbrot=fit_zipf_mandelbrot(popularity),
        batch_samples=batch_sequences,
        lookups_per_distinct_row=reuse.batch_lookups / reuse.batch_distinct if reuse.batches else None,
        sequences=measured.sequences,
        dropped=measured.dropped,
        lengths=_profile_lengths(measured, popularity),
        drift=_profile_drift(first, second),
    )


def profile_locality(path: Path) -> Profile:
    """Measure a locality histogram at the mean number of rows of its tables. Raises UserError."""
    locality = read_locality(path)
    popularity = from_locality(locality, max(1, round(locality.rows / locality.tables)))
    return Profile(
        name=path.stem,
        lookups=round(locality.lookups / locality.tables),
        popularity=popularity,
        top_shares=top_shares(popularity),
        zipf=fit_zipf(popularity),
        zipf_mandelbrot=fit_zipf_mandelbrot(popularity),
        batch_samples=round(locality.samples),
        lookups_per_distinct_row=locality.lookups / locality.rows,
    )


def top_shares(popularity: Popularity) -> tuple[float, ...]:
    """Shares of the lookups on the hottest TOP_PARTS of the touched rows, whole rows, rounded up."""
    rows = [-int(-part * popularity.rows // 1) for part in TOP_PARTS]
    return tuple(float(share) for share in popularity.cumulative_share(rows))


def _profile_lengths(measured: Measured, popularity: Runs) -> LengthProfile:
    counts = measured.length_counts
    distribution = empirical(np.arange(len(counts)), counts)
    below = np.cumsum(distribution.probabilities)
    at = [int(np.searchsorted(below, quantile - 1e-12)) for quantile in LENGTH_QUANTILES]
    distinct = measured.distinct_in_sequences / measured.sequences
    return LengthProfile(
        distribution=distribution,
        quantiles=tuple(int(distribution.lengths[place]) for place in at),
        fit=fit_lognormal(distribution),
        lookups_per_distinct=measured.reuse_in_sequences / measured.nonempty_sequences,
        repeat_share=fit_repeats(popularity, distribution, distinct),
    )


def _profile_drift(first: IntArray, second: IntArray) -> DriftProfile | None:
    """`first` and `second` are [touched] lookups of each row in either half."""
    touched = int(np.count_nonzero(first))
    if not touched or not second.any():
        return None
    rows = [max(1, round(part * touched)) for part in TOP_PARTS]
    planned = [_hottest(first, count) for count in rows]
    possible = [_hottest(second, count) for count in rows]
    return DriftProfile(
        planned_shares=tuple(float(first[hot].sum() / first.sum()) for hot in planned),
        achieved_shares=tuple(float(second[hot].sum() / second.sum()) for hot in planned),
        possible_shares=tuple(float(second[hot].sum() / second.sum()) for hot in possible),
    )


def _hottest(counts: IntArray, rows: int) -> BoolArray:
    """Which are the `rows` greatest counts; of equal ones the first."""
    least = np.partition(counts, -rows)[-rows]
    hottest: BoolArray = counts > least
    ties = np.flatnonzero(counts == least)
    hottest[ties[: rows - np.count_nonzero(hottest)]] = True
    return hottest
