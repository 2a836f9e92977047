"""A timeline as Chrome-trace JSON, which ui.perfetto.dev opens.

One process a rank, one thread (track) a stream. An operation is a slice from the rank's arrival to its end;
where the rank had to wait, its children are `wait` and then `transfer`. Perfetto demands that slices on a track
nest. A stream runs one operation after another, so they do as long as rounding makes no neighbours overlap:
every instant is first rounded to whole nanoseconds, then written in microseconds.

Format: "Trace Event Format" (Chromium project), phases X (complete slice) and M (names).
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simulator.arrays import IntArray
from simulator.engine.program import Collective, Compute, Operation, Program, Transfer
from simulator.engine.timeline import Slice, Timeline
from simulator.files import replace_file

Event = dict[str, Any]

DEFAULT_MAX_RANKS = 64
STREAM_ORDER = ("compute", "communication")  # the usual streams first, others after them by name


def write_trace(timeline: Timeline, path: Path, *, max_ranks: int | None = DEFAULT_MAX_RANKS) -> None:
    """Write the trace of `timeline`; see `trace_events`."""
    trace = trace_events(timeline, max_ranks=max_ranks)
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in trace["traceEvents"])
    head = json.dumps({key: value for key, value in trace.items() if key != "traceEvents"})
    replace_file(path, f'{head[:-1]}, "traceEvents": [\n{lines}\n]}}\n')


def trace_events(timeline: Timeline, *, max_ranks: int | None = DEFAULT_MAX_RANKS) -> dict[str, Any]:
    """The whole trace as a JSON object.

    At most `max_ranks` ranks are shown (None: all): the lowest, and always the one that ends last.
    Slices are sorted by rank, then track, then time, a parent before its children.
    """
    program = timeline.program
    ranks = shown_ranks(timeline, max_ranks)
    tracks, shown = track_numbers(program), set(ranks)
    moved = [moved_bytes(operation, program.world_size) for operation in program.operations]
    slices = [
        event
        for part in timeline.slices()
        if part.rank in shown
        for event in slice_events(timeline, part, tracks[part.stream], moved[part.operation])
    ]
    slices.sort(key=lambda event: (event["pid"], event["tid"], event["ts"]))  # stable: parents stay first
    return {
        "displayTimeUnit": "ns",
        "otherData": {"ranks": program.world_size, "ranks_shown": len(ranks)},
        "traceEvents": [*name_events(ranks, tracks), *slices],
    }


def shown_ranks(timeline: Timeline, max_ranks: int | None) -> tuple[int, ...]:
    """The lowest ranks, with the one that ends last in the final place when it is not among them."""
    world_size = timeline.program.world_size
    if max_ranks is not None and max_ranks < 1:
        raise ValueError(f"max_ranks is {max_ranks}; at least 1 is allowed")
    if max_ranks is None or max_ranks >= world_size:
        return tuple(range(world_size))
    last = int(np.nan_to_num(timeline.end_s, nan=0.0).max(axis=0, initial=0.0).argmax())
    return (*range(max_ranks - 1), max(last, max_ranks - 1))


def track_numbers(program: Program) -> dict[str, int]:
    """Every stream's thread id, in the order of display. None equals a process id: that would be "main"."""
    used = {operation.stream for operation in program.operations}
    streams = (*(name for name in STREAM_ORDER if name in used), *sorted(used.difference(STREAM_ORDER)))
    return {stream: program.world_size + place for place, stream in enumerate(streams)}


def name_events(ranks: tuple[int, ...], tracks: dict[str, int]) -> Iterator[Event]:
    """Names and order of processes and threads."""
    for rank in ranks:
        yield {"ph": "M", "pid": rank, "name": "process_name", "args": {"name": f"rank {rank}"}}
        yield {"ph": "M", "pid": rank, "name": "process_sort_index", "args": {"sort_index": rank}}
        for stream, track in tracks.items():
            thread = {"ph": "M", "pid": rank, "tid": track}
            yield {**thread, "name": "thread_name", "args": {"name": stream}}
            yield {**thread, "name": "thread_sort_index", "args": {"sort_index": track}}


def slice_events(timeline: Timeline, part: Slice, track: int, moved: IntArray | None) -> Iterator[Event]:
    """One rank's part in one operation: its slice, then its children when it waited."""
    enter, start, end = (nanoseconds(instant_s) for instant_s in (part.enter_s, part.start_s, part.end_s))
    waited = start > enter
    arguments: dict[str, Any] = {}
    if moved is not None:
        sent, received = moved[:, part.rank].tolist()
        arguments = {"sent_bytes": sent, "received_bytes": received}
    if waited:
        arguments["last_rank_to_come"] = int(np.nanargmax(timeline.enter_s[part.operation]))
    yield complete_event(part.name, part.rank, track, enter, end, arguments)
    if waited:
        yield complete_event("wait", part.rank, track, enter, start, {})
        yield complete_event("transfer", part.rank, track, start, end, {})


def moved_bytes(operation: Operation, world_size: int) -> IntArray | None:
    """[2, world_size] bytes that each rank sends and receives in an operation; None for compute."""
    if isinstance(operation, Compute):
        return None
    moved = np.zeros((2, world_size), dtype=np.int64)
    if isinstance(operation, Transfer):
        moved[0, operation.source] = moved[1, operation.destination] = operation.bytes
    if isinstance(operation, Collective):
        for stage in operation.stages:
            np.add.at(moved[0], stage.flows.sources, stage.flows.bytes)
            np.add.at(moved[1], stage.flows.destinations, stage.flows.bytes)
    return moved


def complete_event(
    name: str, rank: int, track: int, start_ns: int, end_ns: int, arguments: dict[str, Any]
) -> Event:
    """One complete slice."""
    return {
        "ph": "X",
        "pid": rank,
        "tid": track,
        "ts": microseconds(start_ns),
        "dur": microseconds(end_ns - start_ns),
        "name": name,
        "args": arguments,
    }


def nanoseconds(instant_s: float) -> int:
    """The nearest whole nanosecond. Raises ValueError unless finite."""
    if not math.isfinite(instant_s):
        raise ValueError(f"an instant of the timeline is {instant_s}; it must be finite")
    return round(float(instant_s) * 1e9)


def microseconds(instant_ns: int) -> float:
    """Microseconds whose product with 1,000 is `instant_ns`, whether a reader rounds it or cuts it off.

    Perfetto did the latter until 2025: 1.001 * 1000 is 1000.9999999999999 in binary.
    """
    value = instant_ns / 1000
    while int(value * 1000) < instant_ns:
        value = math.nextafter(value, math.inf)
    return value
