"""Which kind of file a mapping of keys is, told by the keys that only this kind has.

A file of the wrong kind is then one line, not a line for each of its keys.
"""

from collections.abc import Collection

from simulator.config.errors import Problem

MARKS = {  # in order: a sweep has what an experiment has, and a plan has tables like a workload
    "sweep": ("vary",),
    "plan": ("policy", "world_size", "tables"),
    "experiment": ("policies",),
    "workload": ("tables", "batch_per_rank"),
    "topology": ("islands",),
    "prices": ("prices",),
}
NAMES = {
    "sweep": "a sweep",
    "plan": "a plan",
    "experiment": "an experiment",
    "workload": "a workload",
    "topology": "a topology",
    "prices": "a price list",
}


def kind_of(keys: Collection[str]) -> str | None:
    """The kind of file that has these keys, of `MARKS`, if it is told."""
    return next((kind for kind, marks in MARKS.items() if all(mark in keys for mark in marks)), None)


def wrong_kind(found: Collection[str], expected: Collection[str]) -> list[Problem]:
    """A problem, if keys are those of a file of another kind than that of the expected keys."""
    kind, wanted = kind_of(found), kind_of(expected)
    if kind is None or wanted is None or kind == wanted:
        return []
    return [Problem((), f"is {NAMES[kind]}, expected {NAMES[wanted]}")]
