"""Byte matrices of an all-to-all: even ones, and those in the form that nccl-tests' alltoallv_perf reads."""

import re
from pathlib import Path

import numpy as np

from simulator.arrays import IntArray
from simulator.collectives.pairs import spread
from simulator.errors import UserError
from simulator.files import read_text
from simulator.topology.topology import Topology

_WHOLE_NUMBERS = re.compile(r"[0-9\s]+")
_LARGEST = np.iinfo(np.int64).max
_MOST_DIGITS = 400  # leading zeros aside, far more than count


def even_matrix(topology: Topology, bytes_per_rank: int) -> IntArray:
    """[world_size, world_size] int64: each rank sends `bytes_per_rank`, its own share included, evenly to all.

    This is the size column of nccl-tests. Where it doesn't divide, pairs differ by 1 byte, every row and column
    sums to `bytes_per_rank`, and with islands of equal size what a rank sends to other islands is the whole
    number next to the exact share. UserError when all bytes together are more than 64-bit integers hold.
    """
    if 4 * bytes_per_rank * topology.world_size > _LARGEST:
        most = _LARGEST // (4 * topology.world_size)
        raise UserError(f"all-to-all: {bytes_per_rank} bytes a rank, at most {most} are allowed")
    size = topology.island_sizes[0] if len(set(topology.island_sizes)) == 1 else topology.world_size
    islands = topology.world_size // size
    by_offset = spread(spread(bytes_per_rank, islands), size)
    island, local = np.divmod(np.arange(topology.world_size), size)
    matrix: IntArray = by_offset[(island - island[:, None]) % islands, (local - local[:, None]) % size]
    return matrix


def read_matrix(path: Path, world_size: int) -> IntArray:
    """[world_size, world_size] int64 from whitespace-separated whole numbers, entry [i][j] = bytes from i to j.

    Empty lines are skipped. UserError with file and line for anything else than world_size lines of world_size
    whole numbers.
    """
    rows = [
        _row(line, f"{path}:{number}", world_size)
        for number, line in enumerate(read_text(path).splitlines(), start=1)
        if line.strip()
    ]
    if len(rows) != world_size:
        raise UserError(f"{path}: {len(rows)} rows, the topology has {world_size} ranks, one row for each")
    total_bytes = sum(map(sum, rows))
    if total_bytes > _LARGEST:
        raise UserError(f"{path}: {total_bytes} bytes in all, at most {_LARGEST} are allowed")
    return np.array(rows, dtype=np.int64)


def _row(line: str, where: str, world_size: int) -> list[int]:
    tokens = line.split()
    if not _WHOLE_NUMBERS.fullmatch(line):
        wrong = next(token for token in tokens if not _WHOLE_NUMBERS.fullmatch(token))
        raise UserError(
            f"{where}: {wrong!r} is not a number of bytes, whole numbers of 0 and more are allowed"
        )
    if len(tokens) != world_size:
        raise UserError(
            f"{where}: {len(tokens)} entries, the topology has {world_size} ranks, one entry for each"
        )
    longest = max(tokens, key=len)
    if len(longest) > _MOST_DIGITS:
        raise UserError(f"{where}: a number of {len(longest):,} digits, at most {_LARGEST} bytes are allowed")
    return [int(token) for token in tokens]
