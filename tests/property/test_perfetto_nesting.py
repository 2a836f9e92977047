"""Whatever the instants of a timeline, its slices nest on their tracks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.program import Collective, Program
from simulator.engine.timeline import Timeline
from simulator.report.perfetto import microseconds, trace_events

durations_s = st.floats(0, 1e-3, allow_nan=False) | st.sampled_from([0.0, 1e-12, 1e-9, 1.5e-9])
steps = st.lists(st.tuples(durations_s, durations_s, durations_s, st.sampled_from(["a", "b"])), max_size=8)


@settings(max_examples=100, deadline=None)
@given(steps)
def test_slices_nest(parts: list[tuple[float, float, float, str]]) -> None:
    """Operations of one rank on two streams: a gap, a wait and a transfer each, one after another."""
    now = {"a": 0.0, "b": 0.0}
    instants = []
    for gap_s, wait_s, transfer_s, stream in parts:
        enter = now[stream] + gap_s
        instants.append((enter, enter + wait_s, enter + wait_s + transfer_s))
        now[stream] = instants[-1][2]
    operations = tuple(Collective(f"step_{k}", (0,), (), stream=part[3]) for k, part in enumerate(parts))
    enter, start, end = (np.array(column).reshape(-1, 1) for column in np.array(instants).reshape(-1, 3).T)
    timeline = Timeline(Program(1, operations), enter, start, end, np.zeros(0, np.int64), 0, 0)
    open_slices: dict[int, list[int]] = {}
    seen = 0
    for event in trace_events(timeline)["traceEvents"]:
        if event["ph"] != "X":
            continue
        begin = int(event["ts"] * 1000)
        stop = begin + int(event["dur"] * 1000)
        ends = open_slices.setdefault(event["tid"], [])
        while ends and ends[-1] <= begin:
            ends.pop()
        assert not ends or stop <= ends[-1]
        ends.append(stop)
        seen += event["name"].startswith("step_")
    assert seen == len(parts)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**15))
def test_microseconds_give_back_their_nanoseconds(instant_ns: int) -> None:
    assert int(microseconds(instant_ns) * 1000) == instant_ns
