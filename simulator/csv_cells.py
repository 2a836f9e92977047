"""Texts in CSV files that a spreadsheet must not take for formulas.

A cell that begins with `=`, `+`, `-` or `@` is computed by spreadsheets, so a name that does gets an apostrophe in
front, which they show as text; so does a name that begins with an apostrophe, so that reading gives the name back.
Numbers stay numbers.
"""

APOSTROPHE = "'"
FORMULA_STARTS = tuple("=+-@\t\r" + APOSTROPHE)


def guarded(text: str) -> str:
    """A text as its cell holds it."""
    return APOSTROPHE + text if text.startswith(FORMULA_STARTS) and not is_number(text) else text


def unguarded(cell: str) -> str:
    """The text that a cell holds."""
    return cell.removeprefix(APOSTROPHE)


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
