"""Text of whole numbers to arrays, a few million bytes at a time, and every id exact to 64 bits.

Theory of operation. Bytes are digits, a leading minus, blanks (space, tab, carriage return) and line ends;
anything else is an error with its line. A compiled loop (`scan.py`) takes them one by one. A chunk always ends
at a line end, so memory is bounded by the chunk, whatever the file's size.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, IntArray
from simulator.files import is_special
from simulator.workload.traces.source import TraceSource

UIntArray = NDArray[np.uint64]

CHUNK_BYTES = 4 << 20
LONGEST_LINE_BYTES = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
    """The file's numbers, some millions of bytes at a time. Raises UserError; a pipe is no trace, it is read twice."""
    if is_special(source.path):
        raise source.error(None, "is not a regular file")
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
    from simulator.workload.traces.scan import FINE, scan, sizes

    data = np.frombuffer(text, np.uint8)
    lines, tokens = sizes(data)
    values, negative = np.empty(tokens, np.uint64), np.empty(tokens, np.bool_)
    line, line_begins = np.empty(tokens, np.int64), np.empty(lines, np.int64)
    stopped, place, at_line = scan(data, values, negative, line, line_begins)
    if stopped != FINE:
        raise source.error(first_line + at_line, _complaint(text, place))
    return Tokens(values, negative, line, offset + line_begins, first_line)


def _complaint(text: bytes, place: int) -> str:
    """What is wrong with the token or the byte at a place."""
    token = re.compile(rb"[-0-9]{1,40}").match(text, place)
    if token is not None:
        return f"found {token[0].decode()}, allowed are whole numbers below 2^64"
    byte = text[place]
    found = repr(chr(byte)) if 32 <= byte < 127 else f"byte 0x{byte:02x}"
    return f"found {found}, allowed are whole numbers separated by blanks"
