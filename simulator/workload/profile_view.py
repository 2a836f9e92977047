"""A profile for people: rows of a table, and its curve."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.workload.profile import LENGTH_QUANTILES, TOP_PARTS, LengthProfile, Profile, top_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOT_KNOWN = "n/a"
CURVE_POINTS = 300


def profile_rows(profile: Profile) -> list[tuple[str, str]]:
    """(what, value) for each line of the printed profile."""
    law = profile.zipf_mandelbrot
    reuse = profile.lookups_per_distinct_row
    rows = [
        ("lookups", f"{profile.lookups:,}"),
        ("rows touched", f"{profile.rows_touched:,}"),
        *[
            (f"share on the hottest {part:.1%} of them".replace(".0%", "%"), f"{share:.3f}")
            for part, share in zip(TOP_PARTS, profile.top_shares, strict=True)
        ],
        ("Zipf exponent s (q = 0)", f"{profile.zipf.s:.2f}"),
        ("Zipf-Mandelbrot s, q", f"{law.s:.2f}, {law.q:.3g}"),
        ("  its shares there", ", ".join(f"{share:.3f}" for share in top_shares(law))),
        (
            f"lookups per distinct row, {profile.batch_samples:,} samples",
            NOT_KNOWN if reuse is None else f"{reuse:.2f}",
        ),
    ]
    if profile.sequences is not None:
        rows.append(("sequences", f"{profile.sequences:,}"))
        rows.append(("lookups of the padding id, dropped", f"{profile.dropped:,}"))
    if profile.lengths is not None:
        rows.extend(_length_rows(profile.lengths))
    if profile.drift is not None:
        for index, part in enumerate(TOP_PARTS):
            drift = profile.drift
            shares = drift.planned_shares[index], drift.achieved_shares[index], drift.possible_shares[index]
            name = f"hottest {part:.1%} of the first half".replace(".0%", "%")
            rows.append((name, "{:.3f} there, {:.3f} in the second, {:.3f} possible".format(*shares)))
    return rows


def _length_rows(lengths: LengthProfile) -> list[tuple[str, str]]:
    quantiles = ", ".join(f"{length:,}" for length in lengths.quantiles)
    names = ", ".join(f"{quantile:.0%}" for quantile in LENGTH_QUANTILES)
    fit = (
        NOT_KNOWN
        if lengths.fit is None
        else f"{lengths.fit.sigma:.2f} (off by {lengths.fit.distance:.3f} at most)"
    )
    return [
        ("mean length", f"{lengths.distribution.mean:.2f}"),
        (f"lengths at {names}", quantiles),
        ("longest", f"{lengths.distribution.max:,}"),
        ("lognormal sigma", fit),
        ("lookups per distinct row in a sequence", f"{lengths.lookups_per_distinct:.2f}"),
        ("repeats beyond chance", f"{lengths.repeat_share:.3f} of later lookups"),
    ]


def plot_profile(profile: Profile, ax: "Axes") -> None:
    """Share of the lookups on the hottest rows, measured and fitted, on the given axes."""
    rows = np.unique(np.round(np.geomspace(1, profile.rows_touched, CURVE_POINTS)).astype(np.int64))
    law = profile.zipf_mandelbrot
    part = rows / profile.rows_touched
    ax.plot(part, profile.popularity.cumulative_share(rows), color="#0072B2", label=profile.name)
    ax.plot(
        part,
        law.cumulative_share(rows),
        color="#D55E00",
        linestyle="--",
        label=f"Zipf-Mandelbrot s = {law.s:.2f}, q = {law.q:.3g}",
    )
    ax.set_xscale("log")
    ax.set_ylim(0, 1)
    ax.set_xlabel("hottest rows, share of the rows touched")
    ax.set_ylabel("share of the lookups")
    ax.legend(frameon=False)
