"""A `Sweep`: a base with its files read, and the points that its combinations of values make.

A combination is worked out for each policy. What does not concern a policy (the options of another) is left out of
its points, so that none is there twice. A combination that makes no valid input is `Refused`, and the others go on;
when all of a policy are, the sweep is: a key misspelled is told before anything is computed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from simulator.config.errors import ConfigError, Finding, Problem
from simulator.config.load import checked, load_model, refused_in
from simulator.errors import UserError
from simulator.experiment.inputs import file_digest, named_files
from simulator.experiment.spec import Engine
from simulator.sharding.execution import Execution
from simulator.sharding.registry import PolicyEntry
from simulator.sweeps.names import meaning
from simulator.sweeps.point import Point, Refused, digest, one_line
from simulator.sweeps.policy import edited_entry
from simulator.sweeps.share import share_parts
from simulator.sweeps.spec import SweepSpec, load_sweep_spec, policy_of
from simulator.topology.edit import edited_spec as edited_topology
from simulator.topology.spec import TopologySpec
from simulator.workload.edit import edited_spec as edited_workload
from simulator.workload.spec import WorkloadSpec

T = TypeVar("T")
MOST_TOLD = 5


@dataclass(frozen=True, eq=False)
class Base:
    """What values are changes of."""

    topology: TopologySpec
    workload: WorkloadSpec
    workload_folder: Path  # that the workload's files are relative to


@dataclass(frozen=True, eq=False)
class Sweep:
    """What a sweep file says, and the folder that its paths are relative to; `given` takes the base files' place."""

    spec: SweepSpec
    folder: Path
    given: Base | None = None
    source: str = ""  # the file, for errors

    @cached_property
    def base(self) -> Base:
        """The base files as read. Raises UserError with a line for each problem."""
        if self.given is not None:
            return self.given
        workload = self.folder / self.spec.workload
        return Base(
            topology=load_model(self.folder / self.spec.topology, TopologySpec),
            workload=load_model(workload, WorkloadSpec),
            workload_folder=workload.parent,
        )

    def points(self, engine: Engine) -> tuple[Point | Refused, ...]:
        """Every point with this engine, made once: combination by combination, policies in their order.

        Raises UserError when a base file is wrong, no combination makes a point of some policy, or two files have one
        name.
        """
        if engine not in self._made:
            self._made[engine] = self._checked_points(engine)
        return self._made[engine]

    @cached_property
    def _made(self) -> dict[Engine, tuple[Point | Refused, ...]]:
        return {}

    def _checked_points(self, engine: Engine) -> tuple[Point | Refused, ...]:
        made = tuple(_Maker(self, engine).all())
        check_names(made)
        alive = {point.label for point in made if isinstance(point, Point)}
        dead = [point for point in made if isinstance(point, Refused) and point.label not in alive]
        first: dict[str, Refused] = {}
        for point in dead:
            first.setdefault(point.error, point)
        if first:
            raise self._refused(list(first.values())[:MOST_TOLD])
        return made

    def _refused(self, points: Sequence[Refused]) -> UserError:
        """A line for each error, where it is a varied key's with its place in the file."""
        findings = [Finding(self._path_of(point), point.error) for point in points]
        if self.source:
            return refused_in(Path(self.source), findings)
        return ConfigError(self.spec.name, [Problem(each.path, each.text) for each in findings])

    def _path_of(self, refused: Refused) -> tuple[str | int, ...]:
        """Of the varied key that alone makes the same error; () when none does."""
        entry = next(each for each in self.spec.policies if each.label == refused.label)
        maker = _Maker(self, refused.engine)
        for key, value in refused.values.items():
            alone = maker.point({key: value}, entry)
            if isinstance(alone, Refused) and alone.error == refused.error:
                return ("vary", *self.spec.vary.path_of(key))
        return ()


def load_sweep(path: Path) -> Sweep:
    """Read a sweep file. Raises UserError with a line for each problem."""
    return Sweep(load_sweep_spec(path), path.parent, source=str(path))


class _Maker:
    """Makes points; inputs that several points have in common are made once."""

    def __init__(self, sweep: Sweep, engine: Engine) -> None:
        self.sweep, self.spec, self.engine, self.base = sweep, sweep.spec, engine, sweep.base
        self._made: dict[str, Any] = {}

    def all(self) -> Iterator[Point | Refused]:
        """Each point once, in the order of the file; a key counts only where it concerns the policy.

        A value that is spelled in two ways is the same.
        """
        met = set()
        for values in self.spec.vary.combinations():
            for entry in self.spec.policies:
                own = {key: value for key, value in values.items() if concerns(key, entry)}
                identity = digest([entry.label, {key: meaning(value) for key, value in own.items()}])
                if identity not in met:
                    met.add(identity)
                    yield self.point(own, entry)

    def point(self, values: dict[str, Any], entry: PolicyEntry) -> Point | Refused:
        """The point of a combination, or why it makes none."""
        try:
            workload, folder, inputs = self._workload(values)
            return Point(
                values=values,
                policy=self._policy(values, entry),
                topology=self._topology(values),
                workload=workload,
                folder=folder,
                inputs=inputs,
                execution=self._execution(values),
                engine=self.engine,
                tolerance=self.spec.tolerance,
                iterations=self.spec.iterations,
                seed=self._seed(values),
            )
        except UserError as error:
            return Refused(values, entry.label, self.engine, one_line(error))

    def _topology(self, values: Mapping[str, Any]) -> TopologySpec:
        def make() -> TopologySpec:
            base, changes = self._base_topology(values), below("topology", values)
            return share_parts(edited_topology(base, changes), base) if changes else base

        return self._once(["topology", values.get("topology"), below("topology", values)], make)

    def _base_topology(self, values: Mapping[str, Any]) -> TopologySpec:
        if "topology" not in values:
            return self.base.topology
        path = self.sweep.folder / str(values["topology"])
        return self._once(["file", str(path)], lambda: load_model(path, TopologySpec))

    def _workload(self, values: Mapping[str, Any]) -> tuple[WorkloadSpec, Path, dict[str, str]]:
        def make() -> tuple[WorkloadSpec, Path, dict[str, str]]:
            (base, folder), changes = self._base_workload(values), below("workload", values)
            spec = share_parts(edited_workload(base, changes), base) if changes else base
            return spec, folder, self._inputs(spec, folder)

        return self._once(["workload", values.get("workload"), below("workload", values)], make)

    def _base_workload(self, values: Mapping[str, Any]) -> tuple[WorkloadSpec, Path]:
        if "workload" not in values:
            return self.base.workload, self.base.workload_folder
        path = self.sweep.folder / str(values["workload"])
        return self._once(["file", str(path)], lambda: load_model(path, WorkloadSpec)), path.parent

    def _inputs(self, spec: WorkloadSpec, folder: Path) -> dict[str, str]:
        return {
            name: self._digest(folder / name)
            for name in sorted(set(named_files(spec.model_dump(mode="json"))))
        }

    def _digest(self, path: Path) -> str:
        return self._once(["digest", str(path)], lambda: input_digest(path))

    def _policy(self, values: Mapping[str, Any], entry: PolicyEntry) -> PolicyEntry:
        changes = {key.rpartition(".")[2]: values[key] for key in values if key.startswith("policies.")}
        return edited_entry(entry, changes) if changes else entry

    def _execution(self, values: Mapping[str, Any]) -> Execution:
        changes = below("execution", values)
        return self._once(["execution", changes], lambda: edited_execution(self.spec.execution, changes))

    def _seed(self, values: Mapping[str, Any]) -> int:
        seed = values.get("seed", self.spec.seed)
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UserError(f"seed: {seed!r} is no whole number of at least 0")
        return seed

    def _once(self, identity: list[Any], make: Callable[[], T]) -> T:
        """What `make` makes, or the error it raises, from memory the second time."""
        key = digest(identity)
        if key not in self._made:
            try:
                self._made[key] = make()
            except UserError as error:
                self._made[key] = error
        if isinstance(self._made[key], UserError):
            raise self._made[key]
        made: T = self._made[key]
        return made


def below(part: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of one part, without its name."""
    start = f"{part}."
    return {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}


def check_names(points: Iterable[Point | Refused]) -> None:
    """Raise UserError when rows could not be told apart: whole files show in them by the names in the files."""
    for key in ("topology", "workload"):
        files: dict[str, Any] = {}
        for point in points:
            if isinstance(point, Point) and key in point.values:
                name = getattr(point, key).name
                if files.setdefault(name, point.values[key]) != point.values[key]:
                    raise UserError(
                        f"vary.{key}: {files[name]} and {point.values[key]} are both named {name!r}"
                    )


def concerns(key: str, entry: PolicyEntry) -> bool:
    """Whether a varied key has a part in a policy's points."""
    return not key.startswith("policies.") or policy_of(key) in (entry.label, entry.name)


def edited_execution(execution: Execution, changes: Mapping[str, Any]) -> Execution:
    """The switches with some changed. Raises ConfigError."""
    data = {**execution.model_dump(mode="json", exclude_unset=True), **changes}
    return checked(data, Execution, source="execution")


def input_digest(path: Path) -> str:
    """Of a file that a workload names. Raises UserError."""
    try:
        return file_digest(path)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
