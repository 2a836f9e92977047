"""Timelines as Chrome-trace JSON: what Perfetto asks for, and what the slices say."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.collectives.stage import Stage
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.timeline import Timeline
from simulator.network.flows import Flows
from simulator.report.perfetto import microseconds, nanoseconds, trace_events, write_trace

NO = np.nan


def make_timeline(operations: tuple[Operation, ...], enter: Any, start: Any, end: Any) -> Timeline:
    instants = (np.array(each, dtype=np.float64) for each in (enter, start, end))
    program = Program(np.array(enter).shape[1], operations)
    return Timeline(program, *instants, resource_bytes=np.zeros(0, np.int64), events=0, solves=0)


def flows(*triples: tuple[int, int, int]) -> Flows:
    sources, destinations, sizes = zip(*triples, strict=True)
    return Flows(np.array(sources, np.int32), np.array(destinations, np.int32), np.array(sizes, np.int64))


@pytest.fixture
def straggler() -> Timeline:
    """Rank 1 works for 5 ms, the others for 1 ms; then ranks 0 and 1 exchange; rank 2 sends to rank 0."""
    operations: tuple[Operation, ...] = (
        Compute("forward", (0, 1, 2), np.array([1e-3, 5e-3, 1e-3])),
        Collective(
            "embeddings_global", (0, 1), (Stage(flows((0, 1, 300), (1, 0, 200))), Stage(flows((0, 1, 7))))
        ),
        Transfer("push", 2, 0, 64),
    )
    return make_timeline(
        operations,
        enter=[[0, 0, 0], [1e-3, 5e-3, NO], [7e-3, NO, 1e-3]],
        start=[[0, 0, 0], [5e-3, 5e-3, NO], [7e-3, NO, 7e-3]],
        end=[[1e-3, 5e-3, 1e-3], [7e-3, 6e-3, NO], [8e-3, NO, 7.5e-3]],
    )


def slices(trace: dict[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    found = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    return [event for event in found if all(event[key] == value for key, value in wanted.items())]


def assert_well_formed(trace: dict[str, Any]) -> None:
    """Every slice finite and named, and nested in whole nanoseconds on its track, in file order."""
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    names = {
        (event["pid"], event.get("tid"), event["name"])
        for event in trace["traceEvents"]
        if event["ph"] == "M"
    }
    for event in slices(trace):
        assert math.isfinite(event["ts"])
        assert math.isfinite(event["dur"])
        assert event["dur"] >= 0
        assert event["name"]
        key = event["pid"], event["tid"]
        assert (*key, "thread_name") in names
        assert (event["pid"], None, "process_name") in names
        begin = int(event["ts"] * 1000)
        end = begin + int(event["dur"] * 1000)
        open_until = tracks.setdefault(key, [])
        while open_until and open_until[-1][1] <= begin:
            open_until.pop()
        if open_until:
            assert open_until[-1][0] <= begin
            assert end <= open_until[-1][1], f"{event} leaves its parent"
        open_until.append((begin, end))


class TestFormat:
    def test_slices_nest_and_tracks_are_named(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        assert len(slices(trace)) == 3 + (3 + 1) + (1 + 3)
        assert_well_formed(trace)

    def test_the_file_is_the_same_json(self, straggler: Timeline, tmp_path: Path) -> None:
        path = tmp_path / "trace.json"
        write_trace(straggler, path)
        assert json.loads(path.read_text(encoding="utf-8")) == trace_events(straggler)

    def test_the_file_is_the_same_each_time(self, straggler: Timeline, tmp_path: Path) -> None:
        write_trace(straggler, tmp_path / "one.json")
        write_trace(straggler, tmp_path / "two.json")
        assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()

    def test_slices_are_sorted_by_rank_track_and_time(self, straggler: Timeline) -> None:
        keys = [(event["pid"], event["tid"], event["ts"]) for event in slices(trace_events(straggler))]
        assert keys == sorted(keys)

    def test_no_thread_is_taken_for_a_main_thread(self, straggler: Timeline) -> None:
        """Perfetto calls a thread main when its id is its process's, and keeps id 0 for itself."""
        for event in slices(trace_events(straggler)):
            assert event["tid"] >= straggler.program.world_size

    def test_a_name_in_another_script_stays_readable(self, tmp_path: Path) -> None:
        timeline = make_timeline((Compute("vorwärts", (0,), np.array([1.0])),), [[0]], [[0]], [[1]])
        write_trace(timeline, tmp_path / "trace.json")
        assert "vorwärts" in (tmp_path / "trace.json").read_text(encoding="utf-8")

    def test_an_empty_program_is_a_valid_trace(self) -> None:
        nothing = np.zeros((0, 2))
        trace = trace_events(make_timeline((), nothing, nothing, nothing))
        assert slices(trace) == []
        assert trace["otherData"] == {"ranks": 2, "ranks_shown": 2}


class TestSlices:
    def test_waiting_is_a_child_of_the_collective(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        (whole,) = slices(trace, name="embeddings_global", pid=0)
        (wait,) = slices(trace, name="wait", pid=0)
        (transfer,) = slices(trace, name="transfer", pid=0)
        assert (whole["ts"], whole["dur"]) == (1000, 6000)
        assert (wait["ts"], wait["dur"]) == (1000, 4000)
        assert (transfer["ts"], transfer["dur"]) == (5000, 2000)
        assert wait["tid"] == transfer["tid"] == whole["tid"]

    def test_who_was_waited_for_is_named(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        assert slices(trace, name="embeddings_global", pid=0)[0]["args"]["last_rank_to_come"] == 1
        assert slices(trace, name="push", pid=2)[0]["args"]["last_rank_to_come"] == 0

    def test_the_last_to_come_has_no_children(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        assert slices(trace, name="wait", pid=1) == []
        assert "last_rank_to_come" not in slices(trace, name="embeddings_global", pid=1)[0]["args"]

    def test_bytes_are_summed_over_the_stages(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        moved = {
            event["pid"]: (event["args"]["sent_bytes"], event["args"]["received_bytes"])
            for event in slices(trace, name="embeddings_global")
        }
        assert moved == {0: (307, 200), 1: (200, 307)}

    def test_bytes_of_a_transfer(self, straggler: Timeline) -> None:
        trace = trace_events(straggler)
        assert slices(trace, name="push", pid=2)[0]["args"]["sent_bytes"] == 64
        assert slices(trace, name="push", pid=0)[0]["args"] == {"sent_bytes": 0, "received_bytes": 64}

    def test_compute_has_no_bytes(self, straggler: Timeline) -> None:
        assert slices(trace_events(straggler), name="forward", pid=0)[0]["args"] == {}

    def test_a_rank_without_a_part_has_no_slice(self, straggler: Timeline) -> None:
        assert slices(trace_events(straggler), name="embeddings_global", pid=2) == []

    def test_streams_have_tracks_in_order(self) -> None:
        operations = tuple(
            Compute(stream, (0,), np.array([1.0]), stream=stream)
            for stream in ("zeta", "communication", "alpha", "compute")
        )
        trace = trace_events(make_timeline(operations, [[0]] * 4, [[0]] * 4, [[1]] * 4))
        names = {
            event["tid"]: event["args"]["name"]
            for event in trace["traceEvents"]
            if event["name"] == "thread_name"
        }
        assert [names[track] for track in sorted(names)] == ["compute", "communication", "alpha", "zeta"]
        assert_well_formed(trace)


class TestRanksShown:
    def whole(self, ends: list[float]) -> Timeline:
        ranks = tuple(range(len(ends)))
        zeros = [[0.0] * len(ends)]
        return make_timeline((Compute("work", ranks, np.array(ends)),), zeros, zeros, [ends])

    def test_the_rank_that_ends_last_is_always_shown(self) -> None:
        trace = trace_events(self.whole([1, 1, 1, 1, 3, 1]), max_ranks=3)
        assert [event["pid"] for event in slices(trace)] == [0, 1, 4]
        assert trace["otherData"] == {"ranks": 6, "ranks_shown": 3}

    def test_the_lowest_ranks_when_the_last_is_among_them(self) -> None:
        trace = trace_events(self.whole([1, 3, 1, 1]), max_ranks=3)
        assert [event["pid"] for event in slices(trace)] == [0, 1, 2]

    def test_all_of_them(self) -> None:
        timeline = self.whole([1.0] * 100)
        assert len(slices(trace_events(timeline))) == 64
        assert len(slices(trace_events(timeline, max_ranks=None))) == 100
        assert len(slices(trace_events(timeline, max_ranks=1000))) == 100

    def test_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="max_ranks is 0; at least 1"):
            trace_events(self.whole([1, 1]), max_ranks=0)


class TestTimes:
    def test_neighbours_that_meet_between_nanoseconds_do_not_overlap(self) -> None:
        """Three operations whose borders are no multiples of a nanosecond."""
        borders = [0.0, 1.00049e-6, 2.00151e-6, 3.3333333e-6]
        operations = tuple(Compute(f"step_{k}", (0,), np.array([1.0])) for k in range(3))
        enter, end = [[instant] for instant in borders[:-1]], [[instant] for instant in borders[1:]]
        trace = trace_events(make_timeline(operations, enter, enter, end))
        assert_well_formed(trace)
        assert [int(event["ts"] * 1000) for event in slices(trace)] == [0, 1000, 2002]

    @pytest.mark.parametrize("instant", [NO, np.inf, -np.inf])
    def test_an_instant_that_is_no_number_is_refused(self, instant: float) -> None:
        with pytest.raises(ValueError, match="must be finite"):
            nanoseconds(instant)

    def test_seconds_to_nanoseconds(self) -> None:
        assert nanoseconds(1.2345678904e-3) == 1_234_568
        assert nanoseconds(3600.0) == 3_600_000_000_000

    def test_microseconds_survive_rounding_and_cutting_off(self) -> None:
        """1.001 * 1000 is 1000.9999999999999, which a reader that cuts off takes for 1000 ns."""
        for instant_ns in [0, 1, 999, 1001, 8_000_009, 123_456_789_123, *range(4000, 6000)]:
            assert int(microseconds(instant_ns) * 1000) == instant_ns
            assert round(microseconds(instant_ns) * 1000) == instant_ns
