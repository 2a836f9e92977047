"""What is written in a declared format is what is read, whatever the ids and lengths."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import UserError
from simulator.workload.traces.counts import IdCounts
from simulator.workload.traces.measure import measure_trace
from simulator.workload.traces.numbering import FIRST_SLOTS, IdNumbers
from simulator.workload.traces.reuse import Reuse
from simulator.workload.traces.sequences import read_sequences
from simulator.workload.traces.source import TraceSource
from simulator.workload.traces.trace import read_trace

IDS = st.one_of(st.integers(0, 20), st.integers(0, 2**64 - 1))
COMPILING = settings(deadline=None)  # the first example may compile what the reading takes
SEQUENCES = st.lists(st.lists(IDS, max_size=12), min_size=1, max_size=30).filter(any)


def chained(parts: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(parts))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


@COMPILING
@given(sequences=SEQUENCES)
def test_sessions_come_back_as_written(folder: Path, sequences: list[list[int]]) -> None:
    path = folder / "sessions"
    path.write_text("".join(" ".join(map(str, items)) + "\n" for items in sequences))
    (read,) = read_sequences(TraceSource(path, "sessions"))
    assert read.lengths.tolist() == [len(items) for items in sequences]
    assert read.items.tolist() == [item for items in sequences for item in items]


@COMPILING
@given(sequences=SEQUENCES, users=st.data())
def test_users_and_their_items_come_back_as_counted(
    folder: Path, sequences: list[list[int]], users: st.DataObject
) -> None:
    names = users.draw(st.lists(IDS, min_size=len(sequences), max_size=len(sequences), unique=True))
    path = folder / "user_items"
    path.write_text(
        "".join(
            " ".join(map(str, [user, *items])) + "\n" for user, items in zip(names, sequences, strict=True)
        )
    )
    trace = read_trace(TraceSource(path, "user_items"))
    assert dict(zip(trace.ids.tolist(), trace.counts.tolist(), strict=True)) == Counter(chained(sequences))
    assert np.repeat(np.arange(len(trace.length_counts)), trace.length_counts).tolist() == sorted(
        map(len, sequences)
    )


@COMPILING
@given(lines=st.lists(st.tuples(st.integers(0, 5), IDS), min_size=1, max_size=60))
def test_lines_of_users_in_any_order_are_their_sequences(folder: Path, lines: list[tuple[int, int]]) -> None:
    path = folder / "user_item"
    path.write_text("".join(f"{user} {item}\n" for user, item in lines))
    trace = read_trace(TraceSource(path, "user_item"))
    assert dict(zip(trace.ids.tolist(), trace.counts.tolist(), strict=True)) == Counter(
        item for _, item in lines
    )
    held = sorted(Counter(user for user, _ in lines).values())
    assert np.repeat(np.arange(len(trace.length_counts)), trace.length_counts).tolist() == held


@COMPILING
@given(sequences=SEQUENCES, batch=st.integers(1, 8))
def test_what_is_measured_is_what_sets_and_counters_say(
    folder: Path, sequences: list[list[int]], batch: int
) -> None:
    path = folder / "measured"
    path.write_text("".join(" ".join(map(str, items)) + "\n" for items in sequences))
    measured = measure_trace(TraceSource(path, "sessions"), batch_sequences=batch)
    whole = len(sequences) // batch * batch
    batches = [chained(sequences[first : first + batch]) for first in range(0, whole, batch)]
    assert measured.reuse.batches == len(batches)
    assert measured.reuse.batch_lookups == sum(map(len, batches))
    assert measured.reuse.batch_distinct == sum(len(set(items)) for items in batches)
    assert measured.distinct_in_sequences == sum(len(set(items)) for items in sequences)
    assert measured.reuse_in_sequences == pytest.approx(
        sum(len(items) / len(set(items)) for items in sequences if items)
    )


@settings(deadline=None, max_examples=200)
@given(text=st.binary(max_size=60), format=st.sampled_from(["sessions", "user_item", "user_items"]))
def test_any_bytes_are_a_trace_or_one_line_of_error(folder: Path, text: bytes, format: str) -> None:
    path = folder / "bytes"
    path.write_bytes(text)
    source = TraceSource(path, format)  # type: ignore[arg-type]
    with suppress_one_line(path):
        trace = read_trace(source)
        assert trace.counts.sum() == trace.length_counts @ np.arange(len(trace.length_counts)) > 0


@contextmanager
def suppress_one_line(path: Path) -> Iterator[None]:
    """Lets an error of one line pass that begins with the file's path, and nothing else."""
    try:
        yield
    except UserError as error:
        lines = str(error).splitlines()
        if len(lines) != 1 or not lines[0].startswith(str(path)):
            raise AssertionError(lines) from error


@COMPILING
@given(chunks=st.lists(st.lists(IDS, max_size=30), max_size=10))
def test_counts_gathered_in_chunks_are_those_of_the_whole(chunks: list[list[int]]) -> None:
    counts = IdCounts(columns=2)
    for number, chunk in enumerate(chunks):
        counts.add(np.array(chunk, np.uint64), column=number % 2)
    whole = Counter(chained(chunks))
    assert counts.ids.tolist() == sorted(whole)
    for column in (0, 1):
        part = Counter(chained(chunks[column::2]))
        assert counts.counts[column].tolist() == [part[item] for item in sorted(whole)]


@COMPILING
@given(
    parts=st.lists(st.lists(st.lists(st.integers(0, 5)), max_size=7), min_size=1, max_size=6),
    batch=st.integers(1, 5),
)
def test_reuse_counts_sets_of_sequences_and_of_batches(parts: list[list[list[int]]], batch: int) -> None:
    reuse, whole = Reuse(batch), [sequence for part in parts for sequence in part]
    for part in parts:
        numbers = np.array(chained(part), np.int64)
        lengths = np.array([len(sequence) for sequence in part], np.int64)
        distinct = reuse.add(numbers, lengths, 6)
        assert distinct.tolist() == [len(set(sequence)) for sequence in part]
    batches = [chained(whole[start : start + batch]) for start in range(0, len(whole) - batch + 1, batch)]
    assert reuse.batches == len(batches)
    assert reuse.batch_lookups == sum(map(len, batches))
    assert reuse.batch_distinct == sum(len(set(items)) for items in batches)


@COMPILING
@given(chunks=st.lists(st.lists(IDS, max_size=30), max_size=10))
def test_ids_are_numbered_as_they_first_occur(chunks: list[list[int]]) -> None:
    known = IdNumbers()
    for chunk in chunks:
        numbers = known.of(np.array(chunk, np.uint64))
        assert known.ids[numbers].tolist() == chunk
    assert known.ids.tolist() == list(dict.fromkeys(chained(chunks)))


@COMPILING
@given(seed=st.integers(0, 2**32), stride=st.sampled_from([1, 3, 2**20, 2**40, 2**58]))
def test_a_table_that_has_to_grow_numbers_all_the_same(seed: int, stride: int) -> None:
    chosen = np.random.default_rng(seed).integers(0, 3 * FIRST_SLOTS, 4 * FIRST_SLOTS).astype(np.uint64)
    ids, known = chosen * np.uint64(stride), IdNumbers()
    numbers = known.of(ids)
    assert (known.ids[numbers] == ids).all()
    assert len(known) == len(np.unique(ids))
