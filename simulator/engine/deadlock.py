"""A stuck program: found when the clock has stopped, and told as who waits for what.

Each queue that has not finished stands at one operation, its first without an end. There its rank waits for
an operation in `after`, or for ranks that have not come, or for bytes that do not arrive.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.engine.journal import Journal
from simulator.engine.program import Program
from simulator.errors import UserError

LINES_SHOWN = 20

Queues = Mapping[tuple[int, str], tuple[int, ...]]


class DeadlockError(UserError):
    """Ranks wait for what will never happen. One line for each operation at which some stand."""


def check_all_ended(program: Program, queues: Queues, journal: Journal[Any]) -> None:
    """Raise DeadlockError when a queue has operations left."""
    standing = standing_at(queues, journal)
    if not standing:
        return
    stuck = sorted(set(standing.values()))
    report = Report(program, queues, journal, standing)
    lines = [report.line(index) for index in stuck[:LINES_SHOWN]]
    if len(stuck) > LINES_SHOWN:
        lines.append(f"... and {len(stuck) - LINES_SHOWN} more operations at which ranks wait")
    ranks = {rank for rank, _ in standing}
    head = f"deadlock: {len(ranks)} of {program.world_size} ranks would wait for ever"
    raise DeadlockError("\n".join([head, *lines]))


def standing_at(queues: Queues, journal: Journal[Any]) -> dict[tuple[int, str], int]:
    """The first operation without an end of each queue that has one, by (rank, stream)."""
    ended = ~np.isnan(journal.end_s)
    standing = {}
    for (rank, stream), queue in queues.items():
        left = next((index for index in queue if not ended[index, rank]), None)
        if left is not None:
            standing[rank, stream] = left
    return standing


class Report:
    """Puts in words why ranks stand where they stand."""

    def __init__(
        self, program: Program, queues: Queues, journal: Journal[Any], standing: Mapping[tuple[int, str], int]
    ) -> None:
        self.program = program
        self.queues = queues
        self.journal = journal
        self.standing = standing

    def line(self, index: int) -> str:
        """Who waits at an operation at which some rank stands, and for what."""
        operation = self.program.operations[index]
        came, missing = [], []
        for rank in sorted(operation.ranks):
            if np.isnan(self.journal.enter_s[index, rank]):
                missing.append(rank)
            elif np.isnan(self.journal.end_s[index, rank]):
                came.append(rank)
        where = f"{self.title(index)} on stream {operation.stream!r}: "
        if not missing:
            since_s = float(self.journal.start_s[index, came[0]])
            return f"{where}under way since {since_s:.9g} s, bytes never arrive for {named(came)}"
        excuses = by_reason((rank, self.absence(index, rank)) for rank in missing)
        return where + (f"waiting {named(came)}; " if came else "") + f"missing {'; '.join(excuses)}"

    def absence(self, index: int, rank: int) -> str:
        """Why `rank` has not come to an operation that has it."""
        stream = self.program.operations[index].stream
        if index not in self.queues.get((rank, stream), ()):
            return "its queue leaves it out"
        standing = self.standing[rank, stream]
        if standing != index:
            return f"stands at {self.title(standing)}"
        after = self.program.operations[index].after
        open_ones = [k for k in after if rank in self.program.operations[k].ranks and self.is_open(k, rank)]
        return f"waits for the end of {', '.join(map(self.title, open_ones))}"

    def is_open(self, index: int, rank: int) -> bool:
        return bool(np.isnan(self.journal.end_s[index, rank]))

    def title(self, index: int) -> str:
        return f"operation {index} {self.program.operations[index].name!r}"


def by_reason(pairs: Iterable[tuple[int, str]]) -> list[str]:
    """ "ranks 1-3 (reason)" for each reason, in the order in which they come up."""
    ranks: dict[str, list[int]] = {}
    for rank, reason in pairs:
        ranks.setdefault(reason, []).append(rank)
    return [f"{named(group)} ({reason})" for reason, group in ranks.items()]


def named(ranks: Sequence[int]) -> str:
    """ "rank 5", or "ranks 0-4, 6" for ascending ranks."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1][1:] = [rank]
        else:
            runs.append([rank])
    spans = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"rank {spans}" if len(ranks) == 1 else f"ranks {spans}"
