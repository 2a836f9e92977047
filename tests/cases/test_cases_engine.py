"""Practitioners' cases 5, 9, 14, 15 and 26 of the replay, on topologies as users write them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from simulator.arrays import IntArray
from simulator.collectives.all_to_all import all_to_all
from simulator.engine.deadlock import DeadlockError
from simulator.engine.iteration import iteration_program
from simulator.engine.program import Collective, Operation, Program
from simulator.engine.replay import replay
from simulator.engine.timeline import Timeline
from simulator.errors import UserError
from simulator.sharding.execution import Execution
from simulator.sharding.plan import Tier
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology
from simulator.traffic.phase import Phase, Step

Engine = Literal["fluid", "bound"]
ENGINES: tuple[Engine, ...] = ("fluid", "bound")
STEPS: tuple[Step, ...] = ("ids", "embeddings", "gradients")


def cluster(
    folder: Path,
    *,
    islands: int = 2,
    size: int = 4,
    nic: str = "10 GB/s",
    perturb: str = "",
    overrides: str = "",
) -> Topology:
    path = folder / f"topology_{len(list(folder.iterdir()))}.yaml"
    path.write_text(
        f"name: case\n"
        f"islands: {islands}\n"
        f"gpus_per_island: {size}\n"
        f"scale_up: {{bandwidth: 100 GB/s}}\n"
        f"scale_out: {{nics_per_island: {size}, nic_bandwidth: {nic}}}\n"
        + (f"perturb: [{perturb}]\n" if perturb else "")
        + (f"overrides: [{overrides}]\n" if overrides else "")
    )
    return load_topology(path)


def iteration(topology: Topology, matrix: IntArray, *, forward_s: float = 0.001, **switches: Any) -> Program:
    """One global all-to-all a step, `matrix` for the way out and the way back."""
    everyone = (tuple(range(topology.world_size)),)
    traffic: Any = SimpleNamespace(
        phases=tuple(Phase(step, Tier.GLOBAL, everyone, matrix) for step in STEPS),
        sync=(),
        gather_bytes=np.zeros(topology.world_size, dtype=np.int64),
        host_gather_bytes=np.zeros(topology.world_size, dtype=np.int64),
    )
    dense = SimpleNamespace(forward_s=forward_s, backward_s=2 * forward_s, parameters=1000, gradient_bytes=2)
    workload: Any = SimpleNamespace(dense=dense)
    return iteration_program(traffic, workload, topology, Execution(**switches))


def even(topology: Topology, pair_bytes: int = 1_000_000) -> IntArray:
    return np.full((topology.world_size, topology.world_size), pair_bytes, dtype=np.int64)


def exchange(topology: Topology, matrix: IntArray) -> Collective:
    return Collective("exchange", tuple(range(topology.world_size)), all_to_all(topology, matrix))


def run(topology: Topology, *operations: Operation, engine: Engine = "fluid") -> Timeline:
    return replay(Program(topology.world_size, operations), topology, engine=engine, tolerance=None)


class TestCase5OneGpuAndOneIsland:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("pipelining", [False, True])
    def test_one_gpu_moves_nothing_and_computes(
        self, tmp_path: Path, engine: Engine, pipelining: bool
    ) -> None:
        topology = cluster(tmp_path, islands=1, size=1)
        program = iteration(topology, even(topology), pipelining=pipelining)
        made = replay(program, topology, engine=engine)
        assert made.iteration_s == pytest.approx(0.003)
        assert made.communication_s() == 0
        assert made.resource_bytes.sum() == 0

    @pytest.mark.parametrize("engine", ENGINES)
    def test_one_island_uses_no_nic(self, tmp_path: Path, engine: Engine) -> None:
        topology = cluster(tmp_path, islands=1, size=4)
        made = replay(iteration(topology, even(topology)), topology, engine=engine)
        by_name = dict(zip(topology.resources.names, made.resource_bytes.tolist(), strict=True))
        assert all(moved == 0 for name, moved in by_name.items() if name.startswith("nic/"))
        assert by_name["scale_up/0/egress"] > 3 * 3_000_000


class TestCase9NothingToSend:
    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_zero_matrix_takes_no_time(self, tmp_path: Path, engine: Engine) -> None:
        topology = cluster(tmp_path)
        made = run(topology, exchange(topology, even(topology, 0)), engine=engine)
        np.testing.assert_array_equal(made.end_s, 0)
        assert made.communication_s() == 0

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("axis", [0, 1])
    def test_a_rank_without_lookups_or_without_rows_takes_part(
        self, tmp_path: Path, engine: Engine, axis: int
    ) -> None:
        """A zero row or column: the rank still meets the others and is held by what it does receive or send."""
        topology = cluster(tmp_path)
        matrix = even(topology)
        matrix[(3, slice(None)) if axis == 0 else (slice(None), 3)] = 0
        made = run(topology, exchange(topology, matrix), engine=engine)
        assert np.isfinite(made.end_s).all()
        assert made.iteration_s == pytest.approx(0.4e-3)  # the other island: 4 MB through a NIC of 10 GB/s

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_rank_with_no_bytes_at_all_leaves_at_the_start(self, tmp_path: Path, engine: Engine) -> None:
        topology = cluster(tmp_path)
        matrix = even(topology)
        matrix[3], matrix[:, 3] = 0, 0
        made = run(topology, exchange(topology, matrix), engine=engine)
        assert made.transfer_s[0, 3] == 0
        assert made.transfer_s[0, 0] > 0

    def test_no_figure_is_nan(self, tmp_path: Path) -> None:
        topology = cluster(tmp_path)
        made = replay(iteration(topology, even(topology, 0), forward_s=0.0), topology)
        figures = [
            made.iteration_s,
            made.communication_s(),
            made.communication_s([]),
            made.communication_s([0]),
        ]
        assert np.isfinite(figures).all()


class TestCase14LateRank:
    def test_the_others_show_5_ms_of_waiting_and_unchanged_transfer(self, tmp_path: Path) -> None:
        punctual, late = (
            cluster(tmp_path),
            cluster(tmp_path, perturb="{target: rank/5, kind: late, by: 5 ms}"),
        )
        before, after = (run(topology, exchange(topology, even(topology))) for topology in (punctual, late))
        assert (before.wait_s == 0).all()
        np.testing.assert_allclose(after.wait_s[0], np.where(np.arange(8) == 5, 0, 0.005))
        np.testing.assert_allclose(after.transfer_s, before.transfer_s, rtol=1e-9)
        assert after.iteration_s == pytest.approx(before.iteration_s + 0.005)

    def test_only_the_first_collective_of_an_iteration_waits(self, tmp_path: Path) -> None:
        topology = cluster(tmp_path, perturb="{target: rank/5, kind: late, by: 5 ms}")
        made = replay(iteration(topology, even(topology)), topology)
        (ids,), (embeddings,) = (
            made.operations_named("ids_global"),
            made.operations_named("embeddings_global"),
        )
        np.testing.assert_allclose(made.wait_s[ids], np.where(np.arange(8) == 5, 0, 0.005))
        np.testing.assert_allclose(made.wait_s[embeddings], 0, atol=1e-12)


class TestCase15LinksThatSlowOrFail:
    def finish_s(self, topology: Topology) -> Timeline:
        return run(topology, exchange(topology, even(topology)))

    def test_half_a_link_from_the_start_is_a_link_of_half_the_bandwidth(self, tmp_path: Path) -> None:
        slowed = self.finish_s(cluster(tmp_path, perturb="{target: nic/3, from: 0 s, factor: 0.5}"))
        halved = self.finish_s(cluster(tmp_path, overrides="{target: nic/3, bandwidth: 5 GB/s}"))
        np.testing.assert_array_equal(slowed.end_s, halved.end_s)
        assert halved.iteration_s == pytest.approx(0.8e-3)

    def test_a_link_that_fails_for_a_time_delays_by_that_time(self, tmp_path: Path) -> None:
        made = self.finish_s(
            cluster(tmp_path, perturb="{target: nic/3, from: 0.1 ms, until: 2.1 ms, factor: 0}")
        )
        assert made.iteration_s == pytest.approx(2.4e-3)

    @pytest.mark.parametrize("start", ["0 s", "0.1 ms"])
    def test_a_link_that_never_returns_is_an_error_that_names_what_waits(
        self, tmp_path: Path, start: str
    ) -> None:
        topology = cluster(tmp_path, perturb=f"{{target: nic/3, from: {start}, factor: 0}}")
        with pytest.raises(UserError, match="exchange") as caught:
            self.finish_s(topology)
        assert "nic/3" in str(caught.value)

    def test_a_failure_that_nothing_crosses_any_more_does_no_harm(self, tmp_path: Path) -> None:
        made = self.finish_s(cluster(tmp_path, perturb="{target: nic/3, from: 1 s, factor: 0}"))
        assert made.iteration_s == pytest.approx(0.4e-3)


class TestCase26SkippedCollective:
    def test_the_error_lists_who_waits_for_what(self, tmp_path: Path) -> None:
        topology = cluster(tmp_path)
        whole = iteration(topology, even(topology))
        (skipped,) = (k for k, op in enumerate(whole.operations) if op.name == "embeddings_global")
        queue = tuple(index for index in whole.queue_of(6, "communication") if index != skipped)
        program = Program(8, whole.operations, queues={(6, "communication"): queue})
        with pytest.raises(DeadlockError) as caught:
            replay(program, topology)
        lines = str(caught.value).split("\n")
        assert lines[0] == "deadlock: 8 of 8 ranks would wait for ever"
        assert (
            f"operation {skipped} 'embeddings_global' on stream 'communication': waiting ranks 0-5, 7; "
            "missing rank 6 (its queue leaves it out)"
        ) in lines
        assert any("'dense_forward'" in line and "waits for the end of" in line for line in lines)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_no_engine_takes_it_for_a_success(self, tmp_path: Path, engine: Engine) -> None:
        topology = cluster(tmp_path)
        program = Program(8, (exchange(topology, even(topology)),), queues={(0, "communication"): ()})
        with pytest.raises(DeadlockError, match="missing rank 0"):
            replay(program, topology, engine=engine)
