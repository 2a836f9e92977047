"""The network's small parts: alarm, capacities in time, load, errors, and what is compiled when."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simpy import Environment

import simulator
from simulator.network.alarm import Alarm
from simulator.network.capacities import Capacities
from simulator.network.errors import stalled_error
from simulator.network.load import gap_bytes, payload_bytes, volume_bytes
from simulator.topology.build import build_topology
from simulator.topology.spec import TopologySpec
from simulator.topology.topology import Routes


class TestAlarm:
    def test_rings_once_at_the_time_set_last(self) -> None:
        env, rung = Environment(), []
        alarm = Alarm(env, rung.append)
        alarm.set(5.0)
        alarm.set(2.0)
        alarm.set(3.0)
        env.run()
        assert rung == [3.0]

    def test_rings_after_everything_else_at_its_instant(self) -> None:
        env, order = Environment(), []
        Alarm(env, lambda _: order.append("alarm")).set(1.0)
        env.timeout(1.0).callbacks.append(lambda _: order.append("scheduled later"))
        env.timeout(1.0).callbacks.append(
            lambda _: env.event().succeed().callbacks.append(lambda _: order.append("a consequence"))
        )
        env.run()
        assert order == ["scheduled later", "a consequence", "alarm"]

    def test_a_time_that_has_passed_is_now(self) -> None:
        env, rung = Environment(initial_time=4.0), []
        Alarm(env, lambda time_s: rung.append((env.now, time_s))).set(3.0)
        env.run()
        assert rung == [(4.0, 3.0)]


class TestCapacities:
    @staticmethod
    def capacities(*perturb: dict[str, object]) -> Capacities:
        spec = {
            "name": "t",
            "islands": [1, 1],
            "scale_out": {"nic_bandwidth": "8 GB/s"},
            "perturb": list(perturb),
        }
        return Capacities(build_topology(TopologySpec.model_validate(spec)))

    def test_changes_are_taken_in_order_and_once(self) -> None:
        changing = self.capacities({"target": "nic/1/egress", "from": "2 s", "until": "5 s", "factor": 0.25})
        assert changing.next_change_s == 2.0
        assert changing.take_changes(1.9) == []
        assert [change.factor for change in changing.take_changes(2.0)] == [0.25]
        assert changing.now_bytes_per_s.tolist() == [8e9, 2e9, 8e9, 8e9]
        assert changing.take_changes(2.0) == []
        assert len(changing.take_changes(9.0)) == 1
        assert changing.now_bytes_per_s.tolist() == [8e9] * 4
        assert changing.next_change_s == np.inf

    def test_only_what_never_returns_has_failed_for_good(self) -> None:
        changing = self.capacities(
            {"target": "nic/0/egress", "from": "1 s", "until": "2 s", "factor": 0},
            {"target": "nic/0/egress", "from": "3 s", "factor": 0},
            {"target": "nic/1/egress", "from": "1 s", "until": "2 s", "factor": 0},
        )
        changing.take_changes(1.5)
        assert changing.failed_s == {}
        changing.take_changes(3.5)
        assert changing.failed_s == {0: 3.0}
        assert changing.fails_for_good_s(1) == np.inf

    @pytest.mark.parametrize(
        ("start_s", "work_s", "end_s"),
        [
            (0.0, 1.0, 1.0),
            (0.0, 3.0, 4.0),
            (0.0, 4.0, 6.0),
            (2.5, 1.0, 5.25),
            (9.0, 2.0, 11.0),
            (0.0, 0.0, 0.0),
        ],
    )
    def test_when_work_ends_at_half_rate_from_2_s_and_none_from_4_to_5_s(
        self, start_s: float, work_s: float, end_s: float
    ) -> None:
        changing = self.capacities(
            {"target": "nic/0/egress", "from": "2 s", "until": "4 s", "factor": 0.5},
            {"target": "nic/0/egress", "from": "4 s", "until": "5 s", "factor": 0},
        )
        work = np.array([work_s, 0.0, 0.0, 0.0])
        assert changing.busy_until_s(start_s, work)[0] == pytest.approx(end_s, rel=1e-12)

    def test_work_on_what_never_returns_never_ends(self) -> None:
        changing = self.capacities({"target": "nic/0/egress", "from": "2 s", "factor": 0})
        ends_s = changing.busy_until_s(0.0, np.array([2.5, 2.5, 0.0, 0.0]))
        assert ends_s.tolist() == [np.inf, 2.5, 0.0, 0.0]


class TestLoad:
    routes = Routes(
        resources=np.array([[0, 2], [1, -1], [0, 1]], np.int32),
        cap_bytes_per_s=np.full(3, np.inf),
        latency_s=np.zeros(3),
        overhead_bytes=np.array([0.5, 0.0, 2.0]),
    )

    def test_payload_by_resource_skips_the_padding(self) -> None:
        assert payload_bytes(self.routes, np.array([10, 20, 30]), 4).tolist() == [40, 50, 10, 0]

    def test_payload_is_exact_beyond_2_to_the_53(self) -> None:
        sizes = np.array([2**53 + 1, 3, 2**61])
        assert payload_bytes(self.routes, sizes, 4).tolist() == [2**53 + 1 + 2**61, 3 + 2**61, 2**53 + 1, 0]

    def test_gaps_are_counted_once_for_each_message(self) -> None:
        assert gap_bytes(self.routes, 4).tolist() == [2.5, 2.0, 0.5, 0.0]
        assert gap_bytes(self.routes, 4, messages=4).tolist() == [10.0, 8.0, 2.0, 0.0]
        assert volume_bytes(self.routes, np.array([10, 20, 30]), messages=2).tolist() == [11.0, 20.0, 34.0]


class TestErrors:
    def test_one_rank_waits(self) -> None:
        text = "nic/3/egress failed at 0.002 s and never returns: rank 5 waits for it in embeddings_global"
        assert str(stalled_error("nic/3/egress", 0.002, [5], "embeddings_global")) == text

    def test_many_ranks_are_counted(self) -> None:
        text = (
            "leaf/0/up failed at 1 s and never returns: ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more wait for it"
        )
        assert str(stalled_error("leaf/0/up", 1.0, range(100))) == text


class TestCompiled:
    MODULE = "from simulator.compiled import compiled\n\n@compiled\ndef half(x):\n    return 1 / x / 2\n"

    @staticmethod
    def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
        root = Path(simulator.__file__).parents[1]
        env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{folder}"}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)

    def test_the_first_run_says_once_that_it_compiles_and_the_second_does_not(self, tmp_path: Path) -> None:
        (tmp_path / "fresh.py").write_text(self.MODULE)
        code = "from fresh import half; print(half(4.0), half(2), half(0.0))"
        first, second = (self.run_python(code, tmp_path) for _ in range(2))
        assert first.stdout == second.stdout == "0.125 0.25 inf\n"
        assert first.stderr == "compiling what this command needs (once) ...\n"
        assert second.stderr == ""

    def test_it_works_where_compiled_code_can_not_be_kept(self, tmp_path: Path) -> None:
        """Numba refuses to cache what comes from no file, the way it does where no folder can be written."""
        result = self.run_python(self.MODULE + "print(half(4.0), half.stats.cache_path)", tmp_path)
        assert (result.returncode, result.stdout) == (0, "0.125 None\n")

    def test_bounds_and_topologies_do_without_the_compiler(self, tmp_path: Path) -> None:
        code = "import sys, simulator.network.bound, simulator.topology.build; print('numba' in sys.modules)"
        assert self.run_python(code, tmp_path).stdout == "False\n"
