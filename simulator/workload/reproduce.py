"""A workload file that draws what a profile has measured."""

import json
from typing import TYPE_CHECKING, Literal

import numpy as np

from simulator.arrays import IntArray
from simulator.workload.lengths import MAX_LENGTH, LengthDistribution
from simulator.workload.popularity.shares import Popularity

if TYPE_CHECKING:
    from simulator.workload.profile import Profile

POINTS_PER_DECADE = 16
LENGTH_CLASSES = 64
LEAST_REPEATS = 0.005  # below it, a repeat share is within what the estimate can tell


def workload_yaml(
    profile: "Profile", *, style: Literal["measured", "fitted"], batch_per_rank: int, dim: int
) -> str:
    """The text of a workload file with one table of `profile.rows_touched` rows.

    "measured" gives points of the measured curve and classes of lengths; "fitted" gives the likeliest Zipf-
    Mandelbrot law and lognormal, which can be varied but fit less well.
    """
    lengths = profile.lengths
    lines = [
        f"name: {json.dumps(profile.name)}",
        f"source: {json.dumps(f'profile of {profile.name}, {profile.lookups:,} lookups, {style}')}",
        f"batch_per_rank: {batch_per_rank}",
        "embedding_dtype: fp16",
        "tables:",
        "  - name: items",
        f"    rows: {profile.rows_touched}",
        f"    dim: {dim}",
    ]
    if lengths is None:
        lines.append(f"    length: {_two_lengths(profile.lookups / profile.batch_samples)}")
    elif style == "fitted" and lengths.fit is not None and lengths.distribution.max <= MAX_LENGTH:
        lines.append(f"    length: {_lognormal(lengths.distribution, lengths.fit.sigma)}")
    else:
        lines.append(f"    length: {_length_classes(lengths.distribution)}")
    if style == "fitted":
        law = profile.zipf_mandelbrot
        lines.append(f"    popularity: {{kind: zipf, s: {law.s:.5g}, q: {law.q:.5g}}}")
    else:
        lines.append(f"    popularity: {_curve(profile.popularity)}")
    if lengths is not None and lengths.repeat_share >= LEAST_REPEATS:
        lines.append(f"    repeat: {lengths.repeat_share:.4f}")
    return "\n".join(lines) + "\n"


def _two_lengths(mean: float) -> str:
    """The whole lengths around a mean, as often as it takes."""
    least = int(mean)
    return f"{{kind: histogram, lengths: {[least, least + 1]}, weights: {[least + 1 - mean, mean - least]}}}"


def _lognormal(lengths: LengthDistribution, sigma: float) -> str:
    least, most = int(lengths.lengths[0]), lengths.max
    return f"{{kind: lognormal, mean: {lengths.mean:.6g}, sigma: {sigma:.4g}, min: {least}, max: {most}}}"


def _length_classes(lengths: LengthDistribution) -> str:
    """At most LENGTH_CLASSES lengths: the mean of each class of neighbours, rounded, with their weight."""
    below = np.cumsum(lengths.probabilities) - 0.5 * lengths.probabilities
    classes = np.arange(len(lengths.lengths))
    if len(classes) > LENGTH_CLASSES:
        tail = np.log(lengths.lengths - lengths.lengths[0] + 1.0)
        place = 0.5 * below + 0.5 * tail / tail[-1]  # even in weight and in logarithm
        classes = np.minimum((place * LENGTH_CLASSES).astype(np.int64), LENGTH_CLASSES - 1)
    weights = np.bincount(classes, weights=lengths.probabilities)
    sums = np.bincount(classes, weights=lengths.probabilities * lengths.lengths)
    used = weights > 0
    means = np.minimum(np.round(sums[used] / weights[used]), MAX_LENGTH).astype(np.int64)
    return f"{{kind: histogram, lengths: {means.tolist()}, weights: {weights[used].tolist()}}}"


def _curve(popularity: Popularity) -> str:
    rows = _points(popularity.rows)
    shares = [float(share) for share in popularity.cumulative_share(rows)]
    return f"{{kind: cumulative, rows: {rows.tolist()}, shares: {shares}}}"


def _points(rows: int) -> IntArray:
    """Numbers of rows at which the curve is given: the hottest ones singly, then evenly in logarithm."""
    count = max(2, round(POINTS_PER_DECADE * np.log10(rows)))
    return np.unique(np.round(np.geomspace(1, rows, count)).astype(np.int64))
