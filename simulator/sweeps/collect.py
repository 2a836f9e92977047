"""Collects a sweep: computes the points that its CSV has no row of yet, and leaves every row in point order.

Rows are appended as they come, so a kill loses no finished point. At the end the file is written anew: rows in the
order of the points (first pass, then second), whoever computed them and in whatever order. Rows of other points
that the file had (an earlier state of the sweep file, or of the files it names) do not belong to the sweep: they are
put aside into a file beside it, `sweep_other.csv`, from which a sweep that has them again takes them back. They leave
one file only when they are in the other, so that a kill loses none.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator.sweeps.bench import Result
from simulator.sweeps.csv_file import SweepFile, Table, combined, read_rows, write_rows
from simulator.sweeps.point import Point, Refused
from simulator.sweeps.rows import ERROR, KEY, MEMORY, OUTCOME, Row, columns, input_row, number, outcome
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.then import chosen
from simulator.sweeps.workers import Task, ThisProcess, Workers

MOST_IN_TASK = 8  # points; they share a bench
TASKS_A_WORKER = 4  # at least, so that workers finish together

Observer = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """How far a pass is. `known` points had a row, or none to compute, when it began."""

    engine: str
    points: int
    known: int
    computed: int
    failed: int

    def after(self, results: Sequence[Result]) -> "Progress":
        """With some more points finished."""
        failed = sum(bool(result.error) for result in results)
        return replace(self, computed=self.computed + len(results), failed=self.failed + failed)


def collect(
    sweep: Sweep,
    path: Path,
    *,
    workers: Workers | None = None,
    retry: bool = False,
    observer: Observer | None = None,
) -> list[Row]:
    """Compute a sweep into the CSV at `path`; the rows of its points, in order.

    With `retry`, points that failed are computed again. Raises UserError when the sweep or the file is wrong.
    """
    return _Collection(sweep, path, workers or ThisProcess(), retry, observer).rows()


class _Collection:
    def __init__(
        self, sweep: Sweep, path: Path, workers: Workers, retry: bool, observer: Observer | None
    ) -> None:
        self.sweep, self.path, self.workers, self.observer = sweep, path, workers, observer
        self.outcomes: dict[str, Row] = {}
        self.names = columns(sweep.spec.vary.keys)
        self.aside = aside_of(path)
        files: dict[str, Table] = {str(file): read_rows(file) for file in (path, self.aside) if file.exists()}
        self.found_names, self.found = combined(files)
        for row in self.found:
            if not (retry and row.get(ERROR)):
                self.outcomes[row[KEY]] = {name: row[name] for name in OUTCOME if name in row}

    def rows(self) -> list[Row]:
        """Compute what is missing, and write the whole CSV in the sweep's order."""
        points = self.sweep.points(self.sweep.spec.engine)
        self._pass(points)
        if self.sweep.spec.then is not None:
            closer = self._chosen(points)
            if closer:
                self._pass(closer, before=points)
            points += closer
        own = [self._row(point) for point in points]
        self._put_aside(own)
        write_rows(self.path, self.names, own)
        self._take_back(own)
        return own

    def _put_aside(self, own: Sequence[Row]) -> None:
        """Have the file beside hold what was found and is none of these rows; what it has already stays in it."""
        keys = {row[KEY] for row in own}
        if any(row[KEY] not in keys for row in self.found):
            write_rows(self.aside, self.found_names, self.found)

    def _take_back(self, own: Sequence[Row]) -> None:
        """Have the file beside hold no row of the sweep's; without any row it goes."""
        keys = {row[KEY] for row in own}
        left = [row for row in self.found if row[KEY] not in keys]
        if left:
            write_rows(self.aside, self.found_names, left)
        else:
            self.aside.unlink(missing_ok=True)

    def _row(self, point: Point | Refused) -> Row:
        return input_row(point) | self.outcomes[point.key]

    def _pass(self, points: Sequence[Point | Refused], *, before: Sequence[Point | Refused] = ()) -> None:
        """Have an outcome of every point; those `before` have theirs."""
        refused = [point for point in points if isinstance(point, Refused)]
        self.outcomes |= {point.key: outcome(Result(point.key, {}, point.error)) for point in refused}
        left = {
            point.key: point
            for point in points
            if isinstance(point, Point) and point.key not in self.outcomes
        }
        failed = sum(bool(self.outcomes[point.key].get(ERROR)) for point in points if point.key not in left)
        progress = Progress(points[0].engine, len(points), len(points) - len(left), 0, failed)
        self._tell(progress)
        if not left:
            return
        known = [self._row(point) for point in (*before, *points) if point.key not in left]
        self._put_aside(known)
        with SweepFile(self.path, self.names, known, map(input_row, left.values())) as file:
            for results in self.workers.run(tasks_of(list(left.values()), self.workers.count)):
                rows = [self._finished(left[result.key], result) for result in results]
                file.append(rows)
                progress = progress.after(results)
                self._tell(progress)

    def _finished(self, point: Point, result: Result) -> Row:
        self.outcomes[point.key] = outcome(result)
        return self._row(point)

    def _tell(self, progress: Progress) -> None:
        if self.observer is not None:
            self.observer(progress)

    def _chosen(self, points: Sequence[Point | Refused]) -> tuple[Point | Refused, ...]:
        """The same points with the second engine, of those that the rule chooses."""
        then = self.sweep.spec.then
        assert then is not None
        again = self.sweep.points(then.engine)
        rows = [self._row(point) for point in points]
        answered = [index for index, row in enumerate(rows) if not row.get(ERROR)]
        figures = [
            (rows[index]["policy"], number(rows[index], then.by) or 0.0, number(rows[index], MEMORY) or 0.0)
            for index in answered
        ]
        return tuple(again[answered[index]] for index in chosen(then.rule, figures))


def aside_of(path: Path) -> Path:
    """Beside a sweep's CSV, the one of rows that are no longer its points."""
    return path.with_name(f"{path.stem}_other.csv")


def tasks_of(points: Sequence[Point], workers: int) -> list[Task]:
    """Points in tasks, those that share a placement together; closer points one by one."""
    groups: dict[Hashable, list[Point]] = {}
    for point in points:
        shared = (point.label, point.topology.island_sizes, point.workload.tables, point.seed)
        groups.setdefault(repr(shared), []).append(point)
    even = math.ceil(len(points) / (workers * TASKS_A_WORKER))
    size = min(MOST_IN_TASK, even) if points and points[0].engine == "bound" else 1
    return [own[start : start + size] for own in groups.values() for start in range(0, len(own), size)]
