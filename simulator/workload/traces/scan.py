"""The compiled loop of `tokens`: whole numbers out of bytes, in one pass."""

import numpy as np
from numpy.typing import NDArray

from simulator.arrays import BoolArray, IntArray, UIntArray
from simulator.compiled import compiled

FINE, NO_NUMBER, OTHER_BYTE = 0, 1, 2
MAX_DIGITS = 20  # of 2^64 - 1
_TEN, _MOST_TENS, _LAST = np.uint64(10), np.uint64((2**64 - 1) // 10), np.uint64((2**64 - 1) % 10)
_ZERO, _LINE_END, _MINUS = np.uint8(ord("0")), np.uint8(ord("\n")), np.uint8(ord("-"))
_SPACE, _TAB, _RETURN = np.uint8(ord(" ")), np.uint8(ord("\t")), np.uint8(ord("\r"))


@compiled
def sizes(text: NDArray[np.uint8]) -> tuple[int, int]:
    """Lines, and tokens at most: runs of bytes above a space."""
    lines = tokens = 0
    inside = False
    for byte in text:
        lines += byte == _LINE_END
        now = byte > _SPACE
        tokens += now and not inside
        inside = now
    return lines, tokens


@compiled
def scan(
    text: NDArray[np.uint8], values: UIntArray, negative: BoolArray, line: IntArray, line_begins: IntArray
) -> tuple[int, int, int]:
    """Fill [tokens] and [lines] arrays from lines that are whole.

    Returns what stopped it (FINE: nothing), and for NO_NUMBER and OTHER_BYTE the byte and the line that are to blame.
    """
    token = lines = digits = 0
    begin = -1  # of the token under way
    good = True
    value = np.uint64(0)
    line_begins[0] = 0
    for place in range(len(text)):
        byte = text[place]
        digit = byte - _ZERO
        if digit < 10:
            if begin < 0:
                begin, negative[token] = place, False
            digits += 1
            if digits >= MAX_DIGITS:
                room = value < _MOST_TENS or (value == _MOST_TENS and digit <= _LAST)
                good = good and room and digits == MAX_DIGITS
            value = value * _TEN + np.uint64(digit)
        elif byte == _MINUS:
            good = begin < 0
            if good:
                begin, negative[token] = place, True
        elif byte in (_SPACE, _LINE_END, _TAB, _RETURN):
            if begin >= 0:
                if not good or digits == 0:
                    return NO_NUMBER, begin, lines
                values[token], line[token] = value, lines
                token, begin, digits, value = token + 1, -1, 0, np.uint64(0)
            if byte == _LINE_END:
                lines += 1
                if lines < len(line_begins):
                    line_begins[lines] = place + 1
        else:
            return OTHER_BYTE, place, lines
    return FINE, len(text), lines
