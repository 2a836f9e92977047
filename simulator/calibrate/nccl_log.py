"""Reads what nccl-tests prints.

Theory of operation. A log is read line by line. Lines of '#' tell the test ("Collective test starting:
alltoall_perf", or the command that is echoed), its ranks with their hosts and devices ("# Rank 0 ... on HOST
device 0 [0x0a] NVIDIA H800") and the columns. Every other line that begins with a number is a size with its
times; the out-of-place time is taken. A new "nThread" line begins the next test of the same file. A log of old
nccl-tests does not name its test: then the file's name has to.
"""

import re
from pathlib import Path

from simulator.calibrate.measurement import OPERATIONS, Measurement, Operation, parse_size, parse_time_s
from simulator.errors import UserError

_TEST = re.compile(rf"({'|'.join(OPERATIONS)})(?!v)")
_RANK = re.compile(r"#\s*Rank\s+(\d{1,9})\b.*?\bon\s+(\S+)\s+device\s+\d+\s+(?:\[\S+\]\s*)?(.*)")
_PREFIX = re.compile(r"^(\[\d+(,\d+)?\](<stdout>:)?\s*)")  # mpirun --tag-output


def parse_log(text: str, path: Path) -> list[Measurement]:
    """The measurements of a log. UserError with file and line for what can't be read."""
    reader = _Reader(path)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.read(_PREFIX.sub("", line).strip(), number)
    if not reader.measurements:
        raise UserError(f"{path}: no line with a size and a time, so this is no output of nccl-tests")
    return reader.measurements


class _Reader:
    """What the lines so far have told."""

    def __init__(self, path: Path) -> None:
        self.measurements: list[Measurement] = []
        self._path = path
        self._operation = _operation_in(path.stem)
        self._has_root = False
        self._has_columns = False
        self._begin_test()

    def _begin_test(self) -> None:
        self._host_of: dict[int, str] = {}
        self._device = ""

    def read(self, line: str, number: int) -> None:
        """Take in one line of the log; `number` counts from 1."""
        if line[:1].isdigit():
            self._row(line.split(), f"{self._path}:{number}")
        elif "nThread" in line:
            self._begin_test()
        elif rank := _RANK.match(line):
            self._host_of[int(rank[1])] = rank[2]
            self._device = rank[3].strip()
        elif line.startswith("#") and "size" in line and "count" in line:
            self._has_columns, self._has_root = True, "root" in line
        elif "_perf" in line:
            self._operation = _operation_in(line) or self._operation

    def _row(self, tokens: list[str], where: str) -> None:
        if not self._has_columns:
            raise UserError(f"{where}: numbers before the line that names the columns (size count type ...)")
        if self._operation is None:
            names = ", ".join(f"{name}_perf" for name in OPERATIONS if name != "all_to_all")
            raise UserError(f"{where}: the log does not name its test; name the file after it: {names}")
        nodes, ranks = self._shape(where)
        times = self._times(tokens)
        if not times:
            raise UserError(f"{where}: {len(tokens)} columns, no time among them")
        size_bytes, time_s = parse_size(tokens[0], where), parse_time_s(times[0], where)
        self.measurements.append(Measurement(self._device, self._operation, nodes, ranks, size_bytes, time_s))

    def _shape(self, where: str) -> tuple[int, int]:
        """Nodes and ranks."""
        seen, ranks = len(self._host_of), max(self._host_of, default=-1) + 1
        nodes = len(set(self._host_of.values()))
        if ranks < 2:
            raise UserError(f"{where}: {ranks} ranks in the lines '# Rank ...' above, at least 2 are needed")
        if seen < ranks:
            raise UserError(f"{where}: {seen} lines '# Rank ...' above for {ranks} ranks, all are needed")
        if ranks % nodes:
            raise UserError(f"{where}: {ranks} ranks on {nodes} hosts, every host must have the same number")
        return nodes, ranks

    def _times(self, tokens: list[str]) -> list[str]:
        """What follows size, count, type, redop (blank in old all-to-alls) and root."""
        after_type = tokens[3:]
        if after_type and after_type[0].isalpha():
            after_type = after_type[1:]
        return after_type[1:] if self._has_root else after_type


def _operation_in(text: str) -> Operation | None:
    named = _TEST.search(text)
    return OPERATIONS[named[1]] if named else None
