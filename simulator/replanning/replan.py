"""What planning anew every k iterations costs and gains, as popularity moves on.

Theory of operation. The workload says how it changes (`workload.ageing`); a plan of age a meets what the first plan
meets after a iterations, whenever it was made. So one plan is replayed at a few ages, up to that of a plan that is
never renewed, and figures at the ages between are interpolated along the share of lookups that has moved.

    every k     mean of the ages 0 to k - 1
    never       mean of the ages 0 to horizon - 1
    a re-plan   the rows that change hands between a plan and the one made k iterations later (`sharding.migration`),
                as one all-to-all on a quiet cluster, in which training stands still, and `pause_s` on top

A re-plan that moves no row leaves all as it was, so it is as good as none.

Left out: training that goes on while rows move, and the planner's own work unless `pause_s` says so.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simulator.arrays import FloatArray
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.errors import UserError
from simulator.experiment.experiment import Experiment
from simulator.experiment.simulate import PolicySetup, set_up, simulate
from simulator.metrics.hit_rates import HitRate
from simulator.replanning.renewals import Move, Renewal, Replanning
from simulator.sharding.migration import Migration, migration
from simulator.sharding.renewal import renew
from simulator.traffic.placement import prepare
from simulator.workload.ageing import Ageing, ageing
from simulator.workload.workload import Workload

DEFAULT_EVERY = (10, 100, 1_000, 10_000)
DEFAULT_OVER = 1_000
HORIZON_FACTOR = 10  # of the longest interval, when no horizon is given
LEVELS = 6  # ages that are replayed
MOST_AGES = 4_096  # that are averaged over, spread evenly


def replan(
    experiment: Experiment,
    *,
    every: Sequence[int] = DEFAULT_EVERY,
    over: int = DEFAULT_OVER,
    horizon: int | None = None,
    pause_s: float = 0.0,
) -> Replanning:
    """Weigh intervals between plans of the experiment's first policy; the workload's changes take `over` iterations.

    Raises UserError for a workload that does not change, for no interval or one of none or beyond the horizon, and
    for times below nought.
    """
    if not every:
        raise UserError("replan: no interval, allowed: one or more, in iterations")
    if over < 1:
        raise UserError(f"replan: over {over:,} iterations, allowed: 1 or more")
    if not 0.0 <= pause_s < math.inf:
        raise UserError(f"replan: a pause of {pause_s} s, allowed: finite and not negative")
    changes = ageing(experiment.workload, over=over)
    intervals = sorted(set(every))
    horizon = HORIZON_FACTOR * intervals[-1] if horizon is None else horizon
    for interval in intervals:
        if not 1 <= interval <= horizon:
            raise UserError(f"replan: every {interval:,} iterations, allowed: 1 to the horizon, {horizon:,}")
    fresh = replace(experiment, workload=changes.at(0.0))
    setup = set_up(fresh, experiment.policies[0])
    life = Life(fresh, setup, changes, horizon)
    moves = [price(experiment, moved_after(experiment, setup, changes, k), pause_s) for k in intervals]
    renewals = [life.renewal(*pair) for pair in zip(intervals, moves, strict=True)]
    return Replanning(experiment, setup.plan, over, horizon, tuple(renewals), life.renewal(None, None))


def drifting(workload: Workload, share: float | None) -> Workload:
    """The workload with that share of all lookups moving; None: what it declares. Raises UserError."""
    if share is None:
        return workload
    if not 0.0 < share <= 1.0:
        raise UserError(
            f"drift: found {share:g}, allowed: more than 0, at most 1; at 0 a plan never grows old"
        )
    return workload.with_(drift=share)


def moved_after(experiment: Experiment, setup: PolicySetup, changes: Ageing, interval: int) -> Migration:
    """What moves when the plan is renewed at that age. Raises UserError when the new plan does not fit."""
    aged = changes.at(interval)
    renewed = renew(setup.plan, experiment.policies[0], aged, experiment.topology, experiment.execution)
    return migration(renewed.crossings, aged.statistics(), setup.plan, experiment.topology)


def price(experiment: Experiment, moved: Migration, pause_s: float) -> Move:
    """How long a re-plan takes on a quiet cluster."""
    execution = experiment.policies[0].execution_over(experiment.execution)
    run = run_all_to_all(
        experiment.topology,
        moved.matrix,
        tolerance=experiment.tolerance or None,
        algorithm=execution.all_to_all,
        engine=experiment.engine,
    )
    return Move(
        rows=moved.moved_rows,
        initialised_rows=moved.initialised_rows,
        bytes=moved.moved_bytes,
        inter_island_bytes=moved.inter_island_bytes(experiment.topology),
        transfer_s=run.time_s if moved.moved_bytes else 0.0,
        pause_s=pause_s,
    )


class Life:
    """One plan replayed at several ages."""

    def __init__(self, experiment: Experiment, setup: PolicySetup, changes: Ageing, horizon: int) -> None:
        self._changes, self._horizon = changes, horizon
        ages = ages_replayed(changes, horizon)
        self._moved_shares = changes.progress(ages)
        figures = [_replayed(experiment, setup, changes, age) for age in ages.tolist()]
        self._communication_s = np.array([communication_s for communication_s, _ in figures])
        self._rates = [rates for _, rates in figures]

    def renewal(self, every: int | None, move: Move | None) -> Renewal:
        """A plan kept for `every` iterations, then changed by `move`; both None: kept to the horizon."""
        changes = move is not None and move.changes_plan
        weights = self._weights(every if every is not None and changes else self._horizon)
        return Renewal(
            every=every,
            hit_rates=tuple(_mean_rate(weights, rates) for rates in zip(*self._rates, strict=True)),
            communication_s=float(weights @ self._communication_s),
            move=move,
        )

    def _weights(self, interval: int) -> FloatArray:
        """[replayed ages] what each counts in the mean of the ages 0 to interval - 1; they sum to 1."""
        ages = np.linspace(0.0, interval - 1.0, min(interval, MOST_AGES))
        moved, known = self._changes.progress(ages), self._moved_shares
        parts = [np.interp(moved, known, unit) for unit in np.eye(len(known))]
        return np.array([float(part.mean()) for part in parts])


def ages_replayed(changes: Ageing, horizon: int) -> FloatArray:
    """At most `LEVELS` ages from 0 to the horizon, spread evenly over the share of lookups that has moved by then."""
    ages = np.unique(np.concatenate([[0.0], np.geomspace(1.0, max(horizon - 1.0, 1.0), 400)]))
    moved = changes.progress(ages)
    chosen = np.interp(np.linspace(0.0, moved[-1], LEVELS), moved, ages)
    _, first = np.unique(changes.progress(chosen), return_index=True)
    distinct: FloatArray = chosen[first]
    return distinct


def _replayed(
    experiment: Experiment, setup: PolicySetup, changes: Ageing, age: float
) -> tuple[float, tuple[HitRate, ...]]:
    """Communication time of an iteration, and hit rates, of the plan at that age."""
    aged = replace(experiment, workload=changes.at(age))
    placement = prepare(setup.plan, aged.workload, aged.topology, seed=aged.seed)
    comparison = simulate(aged, setups=(replace(setup, placement=placement),))
    return comparison.summaries[0].mean("communication_s") or 0.0, comparison.hit_rates()[0]


def _mean_rate(weights: FloatArray, rates: Sequence[HitRate]) -> HitRate:
    """One tier's rate at each replayed age, weighed."""
    shares = [rate.achieved_share for rate in rates if rate.achieved_share is not None]
    mean = float(weights @ np.array(shares)) if len(shares) == len(rates) else None
    return replace(rates[0], achieved_share=mean)
