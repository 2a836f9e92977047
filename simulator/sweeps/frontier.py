"""Memory against latency: which policies are worth their memory, setting by setting.

A *setting* is what all policies have in common: a cluster and a workload, with the values varied in them. Policies
with all their variants compete inside a setting; a point is on its front when no other has less memory without more
latency, or less latency without more memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import UserError
from simulator.experiment.kind import RUN, kind_of_folder
from simulator.files import read_json
from simulator.sweeps.csv_file import read_rows
from simulator.sweeps.names import short_names
from simulator.sweeps.pareto import front
from simulator.sweeps.rows import ERROR, FIXED, KEY, MEMORY, Row, cell, number

POLICY_PARTS = ("policies.", "execution.")  # of the keys that a policy's variants differ in
SUMMARY = "summary.json"


@dataclass(frozen=True, eq=False)
class Candidate:
    """One point of a setting. `variant` are the values of its policy's own varied keys, in words."""

    row: Row
    policy: str
    variant: str
    latency_s: float
    memory_bytes: float
    on_front: bool

    def to_json(self) -> dict[str, Any]:
        """As plain data, with the point's key where it has one."""
        figures = {"latency_s": self.latency_s, "memory_bytes": self.memory_bytes, "on_front": self.on_front}
        return {"policy": self.policy, "variant": self.variant, **figures, KEY: self.row.get(KEY)}


@dataclass(frozen=True, eq=False)
class Setting:
    """A cluster and a workload, and all points on them."""

    name: str
    inputs: Row  # topology, workload and the values varied in them
    candidates: tuple[Candidate, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data: what the setting is, and all its points."""
        candidates = [each.to_json() for each in self.candidates]
        return {"name": self.name, "inputs": self.inputs, "candidates": candidates}

    @property
    def best(self) -> Candidate:
        """The quickest; of equals the one with less memory, then the first."""
        return min(self.candidates, key=lambda each: (each.latency_s, each.memory_bytes))


def read_results(path: Path) -> list[Row]:
    """Rows of a sweep (its CSV or its folder) or of a run (its folder). Raises UserError."""
    if path.is_dir() and kind_of_folder(path) == RUN:
        return run_rows(path / SUMMARY)
    return read_rows(path / "sweep.csv" if path.is_dir() else path)[1]


def run_rows(path: Path) -> list[Row]:
    """The policies of a run as rows of one setting."""
    try:
        data = read_json(path)
        manifest = read_json(path.parent / "manifest.json")
        common = {
            "topology": str(manifest["topology"]["name"]),
            "workload": str(manifest["workload"]["name"]),
            "world_size": str(sum(manifest["island_sizes"])),
            "engine": str(data["provenance"]["engine"]),
        }
        return [
            {key: cell(value) for key, value in policy.items() if key in FIXED} | common
            for policy in data["policies"]
        ]
    except UserError as error:
        raise UserError(f"{path.parent}: is no finished run ({error})") from None
    except (AttributeError, KeyError, TypeError) as error:
        raise UserError(f"{path.parent}: is no finished run ({type(error).__name__}: {error})") from None


def settings_of(
    rows: Sequence[Row], *, by: str = "communication_s", engine: str | None = None
) -> list[Setting]:
    """The settings of some rows, in order. Points of one engine are compared: by default of that with most answers,
    fluid if both have as many.

    Raises UserError when no row has an answer.
    """
    answered = [row for row in rows if not row.get(ERROR) and number(row, by) is not None]
    if not answered:
        raise UserError("frontier: no point has an answer")
    engines = [row["engine"] for row in answered]
    chosen = engine or max(("fluid", "bound"), key=engines.count)
    taken = [row for row in answered if row["engine"] == chosen]
    if not taken:
        raise UserError(f"frontier: no point has an answer of the {chosen} engine")
    keys = list(dict.fromkeys(key for row in taken for key in row if key not in FIXED))
    names = short_names(keys)
    own = [key for key in keys if key.startswith(POLICY_PARTS)]
    outer = [key for key in keys if key not in own]
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    for row in taken:
        groups.setdefault(tuple(inputs_of(row, outer).items()), []).append(row)
    several = [
        column
        for column in ("topology", "workload")
        if len({row[column] for row in taken if column in row}) > 1
    ]
    return [
        Setting(
            name=in_words(dict(inputs), {**dict.fromkeys(several, ""), **{key: names[key] for key in outer}}),
            inputs=dict(inputs),
            candidates=candidates_of(group, {key: names[key] for key in own}, by),
        )
        for inputs, group in groups.items()
    ]


def inputs_of(row: Row, outer: Sequence[str]) -> Row:
    return {key: row[key] for key in ("topology", "workload", "world_size", "seed", *outer) if key in row}


def in_words(values: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """'dgx_h100_16x8, nic_bandwidth=400 Gbit/s'; a name that is empty stands for the value alone."""
    words = (f"{name}={values[key]}" if name else values[key] for key, name in names.items() if key in values)
    return ", ".join(words)


def candidates_of(rows: Sequence[Row], own: Mapping[str, str], by: str) -> tuple[Candidate, ...]:
    """The points of one setting, those with least memory first."""
    figures = [(number(row, MEMORY) or 0.0, number(row, by) or 0.0) for row in rows]
    best = front(figures)
    found = [
        Candidate(row, row["policy"], in_words(row, own), latency_s, memory_bytes, index in best)
        for index, (row, (memory_bytes, latency_s)) in enumerate(zip(rows, figures, strict=True))
    ]
    return tuple(sorted(found, key=lambda each: (each.memory_bytes, each.latency_s)))
