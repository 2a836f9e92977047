"""What a plain YAML scalar is: the core schema of YAML 1.2, with two deliberate differences.

`_` may group digits (10_000_000). And `yes`, `no`, `on`, `off` are booleans, as in YAML 1.1, because that is what
other tools made of them: a schema that wants a word refuses them with the advice to quote. `010` is ten, `8:1`
and `1.5 us` are text.
"""

import re

Scalar = str | int | float | bool | None

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {
    spelling: value
    for words, value in ((("true", "yes", "on"), True), (("false", "no", "off"), False))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r"[-+]?\d+(_\d+)*", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(_\d+)*(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
_MOST_DIGITS = 400


def resolve(text: str) -> Scalar:
    """The value of a plain scalar. Raises ValueError for a number of absurd length."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in "+-.0123456789":
        return text
    is_integer, is_based = _INTEGER.fullmatch(text), _BASED.fullmatch(text)
    if len(text) > _MOST_DIGITS and (is_integer or is_based or _FLOAT.fullmatch(text)):
        raise ValueError(f"a number of {len(text)} characters is too long")
    if is_integer:
        return int(text)
    if is_based:
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text
