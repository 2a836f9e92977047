"""From a dataset's experiment file to its CSV: measures what is not known yet, and goes on after a kill.

A point is known by its key, a hash of what files say of it: defaults that they leave unspoken are no part of it, for
what changes the meaning of those counts as a version of the model. So nothing is measured twice, and what a changed
experiment file no longer asks for is dropped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import UserError
from simulator.experiment.experiment import MODEL_VERSION
from simulator.figures.figure import Dataset, Measure
from simulator.figures.origin import origin
from simulator.figures.rows import KEY_DIGITS, Row, Rows, Unfinished, cell, read_csv, write_csv
from simulator.figures.spec import load_dataset
from simulator.sweeps.bench import Bench
from simulator.sweeps.point import UNSPOKEN, Point, Refused, digest, one_line
from simulator.sweeps.policy import entry_settings
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.workers import pool_of

FILES = ("topology", "workload")  # varied keys whose values are paths
NEIGHBOURS = 2  # combinations of values that one worker takes in a row: they have draws in common
ERROR = "error"  # the column that says why a point has no figures

Observer = Callable[[int, int], None]  # points done, points in all


@dataclass(frozen=True)
class Places:
    """Where experiment files and committed data are, and where new data go."""

    source: Path
    target: Path
    quick: bool

    def known(self, name: str) -> Rows:
        """Rows that need not be measured again. Quick mode measures all of its few points itself."""
        known = {} if self.quick else read_csv(self.source / f"{name}.csv")
        return known | read_csv(self.target / f"{name}.csv")


def collect(dataset: Dataset, places: Places, *, workers: int, observer: Observer) -> None:
    """Bring `NAME.csv` in the target folder up to date, and `NAME.json` with it. Raises UserError."""
    sweep = load_dataset(places.source / f"{dataset.name}.yaml", quick=places.quick)
    points = _points(sweep)
    known = places.known(dataset.name)
    target = places.target / f"{dataset.name}.csv"
    with Unfinished(target.with_suffix(".unfinished.jsonl")) as unfinished:
        known |= unfinished.rows
        missing = [point for point in points if key_of(point) not in known]
        done = len(points) - len(missing)
        observer(done, len(points))
        chunk = NEIGHBOURS * len(sweep.spec.policies)
        for point, rows in _measured(dataset.measure, missing, workers, chunk):
            done += 1
            known[key_of(point)] = rows
            unfinished.append(key_of(point), rows)
            observer(done, len(points))
        write_csv(target, [(key_of(point), _labelled(point, known, dataset)) for point in points])
        if missing or not target.with_suffix(".json").exists():
            origin(sweep.spec, points).write(target.with_suffix(".json"))


def key_of(point: Point) -> str:
    """A hash of all that changes the answer and differs from the defaults."""
    settings = entry_settings(point.policy.configuration())
    unspoken: dict[str, Any] = {"mode": "json", "exclude_defaults": True}
    said = {
        "model": MODEL_VERSION,
        "topology": point.topology.model_dump(exclude=UNSPOKEN, **unspoken),
        "workload": [point.workload.model_dump(exclude=UNSPOKEN, **unspoken), point.inputs],
        "policy": {key: value for key, value in settings.items() if key != "label"},
        "execution": point.execution.model_dump(**unspoken),
        "run": [point.engine, point.tolerance, point.iterations, point.seed],
    }
    return digest(said)[:KEY_DIGITS]


def inputs(point: Point, dataset: Dataset) -> Row:
    """What was varied, and the policy."""
    row = {
        dataset.columns.get(key, key.rpartition(".")[2]): cell(Path(value).stem if key in FILES else value)
        for key, value in point.values.items()
    }
    return row | {"policy": point.label}


def _labelled(point: Point, known: Rows, dataset: Dataset) -> list[Row]:
    """A point's rows with its inputs as the experiment file now spells them, which no key depends on."""
    own = inputs(point, dataset)
    return [
        own | {name: text for name, text in row.items() if name not in own} for row in known[key_of(point)]
    ]


def _points(sweep: Sweep) -> list[Point]:
    """All points. Raises UserError for values that make none, and for points that are the same."""
    made = sweep.points(sweep.spec.engine)
    points = [point for point in made if isinstance(point, Point)]
    problems = [point.error for point in made if isinstance(point, Refused)]
    seen: dict[str, Point] = {}
    for point in points:
        other = seen.setdefault(key_of(point), point)
        if other is not point:
            problems.append(
                f"{sweep.spec.name}: {point.label} {point.values} is the same point as {other.label}"
            )
    if problems:
        raise UserError("\n".join(dict.fromkeys(problems)))
    return points


_bench = Bench()


def measured_point(measure: Measure, point: Point) -> list[Row]:
    """The rows of one point, on this process's bench; one row with the error if the point can't be run."""
    try:
        rows = measure(_bench, point)
    except UserError as error:
        rows = [{ERROR: one_line(error)}]
    return [{name: cell(value) for name, value in row.items()} for row in rows]


def _measured(
    measure: Measure, points: list[Point], workers: int, chunk: int
) -> Iterator[tuple[Point, list[Row]]]:
    """Rows point by point, in order; a chunk of points goes to one worker."""
    if workers == 1 or len(points) <= chunk:
        for point in points:
            yield point, measured_point(measure, point)
        return
    with pool_of(workers) as pool:
        measures = [measure] * len(points)
        yield from zip(points, pool.map(measured_point, measures, points, chunksize=chunk), strict=True)
