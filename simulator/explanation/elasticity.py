"""How much the communication time follows each knob: its elasticity, by running again with the knob turned.

Theory of operation. The elasticity of T to x is d log T / d log x, here log(T'/T) / log(x'/x) over one small step.
It is -1 for the bandwidth that a run is bound by, in however large steps (T is inverse to it), 0 for what it does
not depend on, and in between where several things add up. Draws are the same on both sides, so they add no noise;
a policy plans anew for the turned inputs. Steps of the fluid engine are a share of the bound and add about their
tolerance.
"""

from collections.abc import Sequence

from simulator.anatomy.elasticity import Elasticities, Elasticity
from simulator.errors import UserError
from simulator.explanation.knobs import KNOBS
from simulator.sweeps.point import Point
from simulator.sweeps.workers import ThisProcess, Workers

METRIC = "communication_s"
DEFAULT_STEP = 0.1


def elasticities(
    points: Sequence[Point], *, step: float = DEFAULT_STEP, workers: Workers | None = None
) -> list[Elasticities]:
    """Of each point's communication time, every knob turned up by `step` (0.1 is 10 %).

    Raises UserError when a point itself cannot be computed, and for a step that turns nothing up.
    """
    if not 0 < step <= 1:
        raise UserError(f"step: found {step}, allowed: more than 0, at most 1")
    turned: dict[str, Point] = {point.key: point for point in points}
    knobs: list[list[tuple[str, str, float]]] = []
    refused: list[list[tuple[str, str]]] = []
    for point in points:
        own, errors = _turned(point, 1.0 + step)
        turned |= {changed.key: changed for _, changed, _ in own}
        knobs.append([(name, changed.key, factor) for name, changed, factor in own])
        refused.append(errors)
    results = {
        result.key: result
        for batch in (workers or ThisProcess()).run([[point] for point in turned.values()])
        for result in batch
    }
    found = []
    for point, own_knobs, errors in zip(points, knobs, refused, strict=True):
        base = results[point.key]
        if base.error:
            raise UserError(f"{point.label}: {base.error}")
        failed = [(name, results[key].error) for name, key, _ in own_knobs if results[key].error]
        of = tuple(
            Elasticity(name, factor, base.figures[METRIC], results[key].figures[METRIC])
            for name, key, factor in own_knobs
            if not results[key].error
        )
        found.append(Elasticities(of, tuple(errors + failed)))
    return found


def _turned(point: Point, factor: float) -> tuple[list[tuple[str, Point, float]], list[tuple[str, str]]]:
    """Every knob that the point has, turned; and those that cannot be turned so far."""
    own, errors = [], []
    for knob in KNOBS:
        try:
            turned = knob.turn(point, factor)
        except UserError as error:
            errors.append((knob.name, str(error).splitlines()[0]))
            continue
        if turned is not None:
            own.append((knob.name, *turned))
    return own, errors
