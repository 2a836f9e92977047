"""What a results folder holds: a run or a sweep. Both have a manifest and a page, so a folder is only one's."""

from pathlib import Path

from simulator.errors import UserError

RUN, SWEEP = "run", "sweep"
FINISHED = {RUN: "summary.json", SWEEP: "sweep.csv"}
BEGUN = {RUN: "iterations.jsonl", SWEEP: "sweep.csv"}  # what is there from the start


def kind_of_folder(folder: Path) -> str | None:
    """The kind whose results are in a folder, None without any. Raises UserError for both at once."""
    found = [kind for kind, mark in FINISHED.items() if (folder / mark).exists()]
    if len(found) > 1:
        raise UserError(
            f"{folder}: holds a run ({FINISHED[RUN]}) and a sweep ({FINISHED[SWEEP]}), which have written over each "
            "other's files; make them anew, in two folders"
        )
    return found[0] if found else None


def refuse_other_kind(folder: Path, kind: str) -> None:
    """Raise UserError when a folder that is to hold results of one kind has some of the other, finished or not."""
    (other,) = BEGUN.keys() - {kind}
    for mark in (FINISHED[other], BEGUN[other]):
        if (folder / mark).exists():
            raise UserError(
                f"{folder}: holds a {other} ({mark}), which a {kind} would write over; give another folder (--out)"
            )
