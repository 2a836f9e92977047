"""Where a text on a page may break into lines: between words, after `_` and `/` in names, never before a unit.

A browser that may break anywhere does so wherever a column can be narrower for it. Here a name breaks at its joints,
and a piece without any only when it is too long for a column.
"""

import re

from markupsafe import Markup, escape

LONGEST_PIECE = 40  # characters of a name without a joint; more are cut, wherever it is
SHORTEST_BROKEN = 10  # characters of a word; shorter ones (n/a) stay whole
_WORDS = re.compile(r"\S+|\s+")
_PIECES = re.compile(r"[^_/]*[_/]+|[^_/]+")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[kMGTP]?B|[mµn]?s)(?!\w))")
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def flowing(text: str) -> Markup:
    """The text, escaped, with `<wbr>` after the joints of long names and no-break spaces before units."""
    return Markup("").join(_word(word) for word in _WORDS.findall(_BEFORE_UNIT.sub(NO_BREAK_SPACE, text)))


def _word(word: str) -> Markup:
    if len(word) < SHORTEST_BROKEN:
        return escape(word)
    return Markup("<wbr>").join(
        escape(piece[start : start + LONGEST_PIECE])
        for piece in _PIECES.findall(word)
        for start in range(0, len(piece), LONGEST_PIECE)
    )
