"""Text of whole numbers to arrays, a few million bytes at a time, and every id exact to 64 bits.

Theory of operation. Bytes are classified at once: digits, a leading minus, blanks (space, tab, carriage
return) and line ends; anything else is an error with its line. Numbers are built digit place by digit place
for all tokens together. A chunk always ends at a line end, so memory is bounded by the chunk, whatever the
file's size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, IntArray
from simulator.workload.traces.source import TraceSource

UIntArray = NDArray[np.uint64]

CHUNK_BYTES = 4 << 20
LONGEST_LINE_BYTES = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_DIGITS = 20
LARGEST = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Tokens:
    """The numbers of some whole lines."""

    values: UIntArray  # [tokens] magnitudes
    negative: BoolArray  # [tokens]
    line: IntArray  # [tokens] 0-based line of this chunk
    line_offsets: IntArray  # [lines] byte of the file at which each line begins
    first_line: int  # 1-based number, in the file, of the chunk's first line

    @property
    def columns(self) -> IntArray:
        """[lines] numbers on each line."""
        return np.bincount(self.line, minlength=len(self.line_offsets))


def read_tokens(source: TraceSource) -> Iterator[Tokens]:
    """The file's numbers, some millions of bytes at a time."""
    try:
        with open(source.path, "rb") as file:
            first_line = 1
            for text, offset in _whole_lines(file, source):
                tokens = _tokenise(text, offset, first_line, source)
                first_line += len(tokens.line_offsets)
                yield tokens
    except OSError as error:
        raise source.error(None, f"cannot read the trace: {error.strerror}") from error


def _whole_lines(file: BinaryIO, source: TraceSource) -> Iterator[tuple[bytes, int]]:
    """Pieces of text that end at a line end, with their offsets; a missing last line end is added."""
    offset, rest = 0, file.read(len(BYTE_ORDER_MARK))
    if rest == BYTE_ORDER_MARK:
        offset, rest = len(BYTE_ORDER_MARK), b""
    while more := file.read(CHUNK_BYTES):
        text = rest + more
        end = text.rfind(b"\n") + 1
        if end:
            yield text[:end], offset
        offset, rest = offset + end, text[end:]
        if len(rest) > LONGEST_LINE_BYTES:
            raise source.error(None, f"a line is longer than {LONGEST_LINE_BYTES >> 20} MiB")
    if rest:
        yield rest.removesuffix(b"\n") + b"\n", offset


def _tokenise(text: bytes, offset: int, first_line: int, source: TraceSource) -> Tokens:
    data = np.frombuffer(text, np.uint8)
    line_ends = np.flatnonzero(data == ord("\n"))
    minus = data == ord("-")
    part_of_token = (data - ord("0") < 10) | minus
    _refuse_other_bytes(data, part_of_token, line_ends, first_line, source)
    changes = np.flatnonzero(part_of_token[1:] != part_of_token[:-1]) + 1
    if part_of_token[0]:
        changes = np.concatenate([[0], changes])
    starts, ends = changes[0::2], changes[1::2]
    negative = minus[starts]
    line = np.searchsorted(line_ends, starts)
    digits = ends - starts - negative
    bad = (digits < 1) | (digits > MAX_DIGITS)
    inner_minus = np.flatnonzero(minus[1:] & part_of_token[:-1]) + 1
    bad[np.searchsorted(starts, inner_minus, side="right") - 1] = True
    values, too_large = _numbers(data, starts + negative, digits * ~bad)
    bad |= too_large
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        found = text[starts[at] : ends[at]][:40].decode()
        raise source.error(first_line + int(line[at]), f"found {found}, allowed are whole numbers below 2^64")
    line_offsets = offset + np.concatenate([[0], line_ends[:-1] + 1])
    return Tokens(values, negative, line, line_offsets, first_line)


def _refuse_other_bytes(
    data: NDArray[np.uint8],
    part_of_token: BoolArray,
    line_ends: IntArray,
    first_line: int,
    source: TraceSource,
) -> None:
    blank = (data == ord(" ")) | (data == ord("\t")) | (data == ord("\r")) | (data == ord("\n"))
    other = np.flatnonzero(~(part_of_token | blank))
    if len(other):
        byte = int(data[other[0]])
        found = repr(chr(byte)) if 32 <= byte < 127 else f"byte 0x{byte:02x}"
        line = first_line + int(np.searchsorted(line_ends, other[0]))
        raise source.error(line, f"found {found}, allowed are whole numbers separated by blanks")


def _numbers(data: NDArray[np.uint8], starts: IntArray, digits: IntArray) -> tuple[UIntArray, BoolArray]:
    """[tokens] the numbers of `digits` digits at `starts`, and which of them exceed 64 bits."""
    values = np.zeros(len(starts), np.uint64)
    too_large = np.zeros(len(starts), np.bool_)
    for place in range(int(digits.max(initial=0))):
        at = np.flatnonzero(digits > place)
        digit = (data[starts[at] + place] - ord("0")).astype(np.uint64)
        if place == MAX_DIGITS - 1:
            quotient, rest = np.uint64(LARGEST // 10), np.uint64(LARGEST % 10)
            too_large[at] = (values[at] > quotient) | ((values[at] == quotient) & (digit > rest))
        values[at] = values[at] * np.uint64(10) + digit
    return values, too_large
