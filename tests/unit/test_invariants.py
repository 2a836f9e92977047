"""Each invariant holds of a real iteration and fails where its violation is planted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import simulator
from simulator import cli
from simulator.engine.iteration import iteration_program
from simulator.engine.program import Program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.experiment.experiment import Experiment, make_experiment
from simulator.experiment.simulate import PolicySetup, draw, set_up
from simulator.metrics.bounds import CollectiveBound, collective_bounds
from simulator.metrics.invariants import REPORT, InvariantError, check_iteration, check_memory
from simulator.metrics.measure import measure
from simulator.metrics.records import IterationRecord
from simulator.sharding.execution import Execution
from simulator.sharding.memory import MemoryUse, memory_bytes
from simulator.sharding.plan import Tier
from simulator.sharding.registry import PolicyEntry
from simulator.topology.build import uniform_topology
from simulator.traffic.phase import Phase
from simulator.traffic.traffic import Traffic
from simulator.workload.build import build_workload
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Batch

TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=3e11, nic_bytes_per_s=25e9)
WORKLOAD = {
    "name": "w",
    "batch_per_rank": 50,
    "tables": [
        {"name": "a", "rows": 1000, "dim": 4, "length": 9, "popularity": {"kind": "zipf", "s": 1.2}},
        {"name": "b", "rows": 37, "dim": 3, "length": 2, "popularity": {"kind": "uniform"}},
    ],
    "dense": {"forward": "1 ms", "backward": "2 ms", "parameters": 1000},
}


@dataclass(frozen=True)
class Run:
    """Everything that the checks look at."""

    experiment: Experiment
    setup: PolicySetup
    timeline: Timeline
    traffic: Traffic
    record: IterationRecord
    bounds: dict[int, CollectiveBound]
    batch: Batch

    def check(self, *, contends: bool = True) -> None:
        check_iteration(
            self.timeline, self.traffic, self.record, self.bounds, TOPOLOGY, self.batch, contends=contends
        )


def run(policy: str = "hybrid", **execution: Any) -> Run:
    workload = build_workload(WorkloadSpec.model_validate(WORKLOAD), Path())
    experiment = make_experiment(
        name="x",
        topology=TOPOLOGY,
        workload=workload,
        policies=[PolicyEntry.parse(policy)],
        execution=Execution(**execution),
    )
    setup = set_up(experiment, experiment.policies[0])
    drawn = draw(experiment, setup.placement, 0)
    program = iteration_program(
        drawn.traffic, workload, TOPOLOGY, setup.plan.execution, next_ids=drawn.next_ids
    )
    timeline = replay(program, TOPOLOGY)
    bounds = collective_bounds(program, TOPOLOGY)
    record = measure(timeline, drawn.traffic, TOPOLOGY, bounds, policy=policy, iteration=0)
    return Run(experiment, setup, timeline, drawn.traffic, record, bounds, drawn.batch)


@pytest.fixture(scope="module")
def sound() -> Run:
    return run()


@pytest.mark.parametrize("policy", ["row_wise", "hybrid", "table_wise", "two_dimensional", "flexshard"])
@pytest.mark.parametrize(
    "execution",
    [
        {},
        {"dedup": "island", "all_to_all": "hierarchical"},
        {"pipelining": True, "shared_stream": False, "tiers": "concurrent", "all_to_all": "rail"},
        {"sync": "sparse", "sync_algorithm": "flat", "optimizer": "adam"},
    ],
)
def test_a_sound_iteration_passes(policy: str, execution: dict[str, Any]) -> None:
    made = run(policy, **execution)
    made.check()
    check_memory(made.setup.memory, made.setup.plan, made.experiment.workload.statistics())


def index_of(made: Run, name: str) -> int:
    return made.timeline.operations_named(name)[0]


def with_times(made: Run, field: str, name: str, change: Callable[[Any], Any]) -> Run:
    """Some times of one operation changed."""
    times_s = getattr(made.timeline, field).copy()
    times_s[index_of(made, name)] = change(times_s[index_of(made, name)])
    return replace(made, timeline=replace(made.timeline, **{field: times_s}))


def with_phase(made: Run, name: str, **changes: Any) -> Run:
    phases = tuple(
        replace(phase, **changes) if phase.name == name else phase for phase in made.traffic.phases
    )
    return replace(made, traffic=replace(made.traffic, phases=phases))


def phase(made: Run, name: str) -> Phase:
    return next(phase for phase in made.traffic.phases if phase.name == name)


def with_entry(made: Run, name: str, row: int, column: int, change: Callable[[int], int]) -> Run:
    """One entry of a phase's matrix changed."""
    matrix = phase(made, name).matrix.copy()
    matrix[row, column] = change(int(matrix[row, column]))
    return with_phase(made, name, matrix=matrix)


def with_metrics(made: Run, **changes: Any) -> Run:
    return replace(made, record=replace(made.record, metrics=replace(made.record.metrics, **changes)))


def lost_lookup(made: Run) -> Run:
    tiers = {**made.traffic.lookups_by_tier}
    tiers["global"] -= 1
    return replace(made, traffic=replace(made.traffic, lookups_by_tier=tiers))


def lost_hit(made: Run) -> Run:
    tiers = {**made.traffic.hits_by_tier}
    tiers["global"] -= 1
    return replace(made, traffic=replace(made.traffic, hits_by_tier=tiers))


def hit_of_another_tier(made: Run) -> Run:
    """All rows' hits are said to be of replicated rows."""
    hits = made.traffic.hits_by_tier
    tiers = dict.fromkeys(hits, 0) | {"replicated": sum(hits.values())}
    return replace(made, traffic=replace(made.traffic, hits_by_tier=tiers))


def with_phase_record(made: Run, **changes: Any) -> Run:
    first, *others = made.record.phases
    return replace(made, record=replace(made.record, phases=(replace(first, **changes), *others)))


def lost_byte_on_a_port(made: Run) -> Run:
    passed = made.timeline.resource_bytes.copy()
    passed[0] -= 1
    return replace(made, timeline=replace(made.timeline, resource_bytes=passed))


def faster_than_its_port(made: Run) -> Run:
    """The same bytes in a thousandth of the time."""
    times = {field: getattr(made.timeline, field) / 1000 for field in ("enter_s", "start_s", "end_s")}
    return replace(made, timeline=replace(made.timeline, **times))


def before_its_cause(made: Run) -> Run:
    made = with_times(made, "enter_s", "embeddings_global", lambda own_s: own_s * 0)
    return with_times(made, "start_s", "embeddings_global", lambda own_s: own_s * 0)


def below_the_bound(made: Run) -> Run:
    start_s = made.timeline.start_s[index_of(made, "gradients_global")]
    return with_times(made, "end_s", "gradients_global", lambda _: start_s)


PLANTED: dict[str, tuple[Callable[[Run], Run], str]] = {
    "a lookup that nobody answered": (lost_lookup, r"\d+ lookups were drawn and \d+ answered"),
    "a lookup of no tier's row": (lost_hit, r"\d+ lookups were drawn and \d+ counted by the tier of their row"),
    "a lookup of another tier's row": (
        hit_of_another_tier,
        "tier global: more lookups answered remotely than there were",
    ),
    "negative bytes": (
        lambda made: with_entry(made, "ids_global", 0, 1, lambda _: -5),
        "ids_global: negative bytes",
    ),
    "bytes outside the groups": (
        lambda made: with_phase(made, "ids_global", groups=((0, 1), (2, 3))),
        "ids_global: bytes outside its groups",
    ),
    "bytes of ranks in no group": (
        lambda made: with_phase(made, "ids_global", groups=((0, 1, 2),)),
        "ids_global: bytes outside its groups",
    ),
    "a byte that was never sent": (
        lambda made: with_entry(made, "embeddings_global", 0, 3, lambda own: own + 1),
        r"embeddings_global: \d+ B in its matrix, \d+ B handed to the network",
    ),
    "a byte that was sent twice": (
        lambda made: with_entry(made, "embeddings_global", 0, 3, lambda own: own - 1),
        r"embeddings_global: \d+ B in its matrix, \d+ B handed to the network",
    ),
    "a byte lost on a port": (lost_byte_on_a_port, r"scale_up/0/egress: \d+ B asked for, \d+ B passed"),
    "a port above its capacity": (faster_than_its_port, "nic/0/egress: above its capacity"),
    "an end before its start": (
        lambda made: with_times(made, "end_s", "gather", lambda own_s: own_s - 1),
        "an operation ends before it starts",
    ),
    "a start before its entry": (
        lambda made: with_times(made, "start_s", "gather", lambda own_s: own_s - 1),
        "starts before it is entered",
    ),
    "an effect before its cause": (before_its_cause, "embeddings_global is entered before gather ends"),
    "a collective faster than its port bound": (below_the_bound, "gradients_global: 0.0 s, below its port bound"),
    "communication faster than its bound": (
        lambda made: with_metrics(made, communication_s=made.record.metrics.bound_s / 2),
        "communication takes .* s, below its bound",
    ),
    "a figure that is no number": (
        lambda made: with_metrics(made, iteration_s=float("nan")),
        "iteration_s is nan",
    ),
    "a phase's figure that is no number": (
        lambda made: with_phase_record(made, mean_wait_s=float("nan")),
        "ids_global: mean_wait_s is nan",
    ),
    "a phase that waits less than nothing": (
        lambda made: with_phase_record(made, max_wait_s=-1e-3),
        "ids_global: max_wait_s is -0.001",
    ),
    "bytes below nought": (
        lambda made: with_metrics(made, inter_island_bytes=-1),
        "inter_island_bytes is -1",
    ),
    "a figure without end": (
        lambda made: with_metrics(made, imbalance=float("inf")),
        "imbalance is inf",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_violation_is_found(sound: Run, name: str) -> None:
    sound.check()
    plant, words = PLANTED[name]
    with pytest.raises(InvariantError, match=words):
        plant(sound).check()


def test_a_violation_says_how_to_make_it_again(sound: Run) -> None:
    with pytest.raises(InvariantError) as caught:
        lost_lookup(sound).check()
    text = str(caught.value)
    assert text.startswith("policy 'hybrid', iteration 0, seed 0, topology 'uniform': ")
    assert text.endswith(f"({REPORT})")


def test_all_that_is_violated_is_told(sound: Run) -> None:
    with pytest.raises(InvariantError, match=r"answered; .*iteration_s is nan"):
        with_metrics(lost_lookup(sound), iteration_s=float("nan")).check()


def test_what_overlaps_may_pass_a_port_at_once_under_the_bound_alone(sound: Run) -> None:
    with pytest.raises(InvariantError) as caught:
        faster_than_its_port(sound).check(contends=False)
    assert "above its capacity" not in str(caught.value)


@pytest.mark.parametrize("forward_s", [1.0, 1e3, 1e6])
def test_a_clock_that_is_late_and_coarse_is_no_violation(sound: Run, forward_s: float) -> None:
    """A tick of a clock at 1,000 s is 1e-13 s: transfers of nanoseconds are rounded to it."""
    workload = build_workload(
        WorkloadSpec.model_validate(WORKLOAD | {"dense": {"forward": f"{forward_s} s"}}), Path()
    )
    program = iteration_program(sound.traffic, workload, TOPOLOGY, Execution())
    timeline, bounds = replay(program, TOPOLOGY), collective_bounds(program, TOPOLOGY)
    record = measure(timeline, sound.traffic, TOPOLOGY, bounds, policy="hybrid", iteration=0)
    replace(sound, timeline=timeline, bounds=bounds, record=record).check()
    assert record.metrics.iteration_s > forward_s


def test_an_iteration_of_nothing_is_sound(sound: Run) -> None:
    alone = replay(Program(4, ()), TOPOLOGY)
    assert alone.iteration_s == 0
    nothing = replace(sound.traffic, phases=())
    record = measure(alone, nothing, TOPOLOGY, {}, policy="none", iteration=0)
    replace(sound, timeline=alone, traffic=nothing, bounds={}, record=record).check()


class TestMemory:
    def test_a_row_that_nobody_keeps_is_found(self, sound: Run) -> None:
        memory = sound.setup.memory
        kept = memory.weights_bytes_by_tier[Tier.GLOBAL].copy()
        kept[0] -= 16
        short = replace(memory, weights_bytes_by_tier={**memory.weights_bytes_by_tier, Tier.GLOBAL: kept})
        with pytest.raises(InvariantError, match=r"rows of tier global are \d+ B, ranks keep \d+ B"):
            check_memory(short, sound.setup.plan, sound.experiment.workload.statistics())

    def test_sums_are_exact_beyond_64_bits(self, sound: Run) -> None:
        """Four ranks of 2^62 bytes each are not zero."""
        memory = sound.setup.memory
        kept = np.full(4, 2**62, np.int64)
        vast = replace(memory, weights_bytes_by_tier={**memory.weights_bytes_by_tier, Tier.GLOBAL: kept})
        with pytest.raises(InvariantError, match=f"ranks keep {2**64} B"):
            check_memory(vast, sound.setup.plan, sound.experiment.workload.statistics())


class TestEveryWayToRun:
    """A bug that is planted in the measuring is found by whichever way an iteration is replayed."""

    @pytest.fixture(autouse=True)
    def lie(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        def lying(*arguments: Any, **how: Any) -> IterationRecord:
            true = measure(*arguments, **how)
            return replace(true, metrics=replace(true.metrics, iteration_s=float("nan")))

        monkeypatch.setattr("simulator.experiment.simulate.measure", lying)
        monkeypatch.chdir(tmp_path)
        Path("t.yaml").write_text(yaml.safe_dump(TOPOLOGY.spec.model_dump(mode="json", exclude_unset=True)))
        Path("w.yaml").write_text(yaml.safe_dump(WORKLOAD))
        common = "name: e\ntopology: t.yaml\nworkload: w.yaml\npolicies: [row_wise]\niterations: 1\n"
        Path("e.yaml").write_text(common)
        Path("s.yaml").write_text(common + "vary: {seed: [1, 2]}\n")

    @pytest.mark.parametrize(
        "command",
        [
            ["run", "e.yaml"],
            ["run", "e.yaml", "--out", "elsewhere"],
            ["compare", "t.yaml", "w.yaml", "--policy", "row_wise"],
            ["compare", "t.yaml", "w.yaml", "--policy", "row_wise", "--engine", "bound"],
        ],
        ids=" ".join,
    )
    def test_verbs(
        self, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.argv", ["shardsim", *command])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == cli.BUG_STATUS
        assert f"iteration_s is nan ({REPORT})" in capsys.readouterr().err

    def test_api(self) -> None:
        for engine in ("fluid", "bound"):
            with pytest.raises(InvariantError, match="iteration_s is nan"):
                simulator.simulate("t.yaml", "w.yaml", engine=engine)
            with pytest.raises(InvariantError, match="iteration_s is nan"):
                simulator.compare("t.yaml", "w.yaml", ["row_wise"], engine=engine)

    def test_a_sweep_goes_on_and_says_so_of_each_point(self) -> None:
        errors = simulator.sweep_file("s.yaml").frame["error"].tolist()
        assert len(errors) == 2
        assert all("iteration_s is nan" in error for error in errors)

    def test_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lying(*arguments: Any) -> MemoryUse:
            true = memory_bytes(*arguments)
            return replace(
                true,
                weights_bytes_by_tier={tier: own + 1 for tier, own in true.weights_bytes_by_tier.items()},
            )

        monkeypatch.setattr("simulator.experiment.simulate.memory_bytes", lying)
        with pytest.raises(InvariantError, match="ranks keep"):
            simulator.compare("t.yaml", "w.yaml", ["row_wise"])
        assert "ranks keep" in simulator.sweep_file("s.yaml").frame["error"][0]
