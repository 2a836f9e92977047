"""A results folder read back: the tables and matrices that a report is drawn from, checked at the door."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from simulator.anatomy.anatomy import Anatomy
from simulator.anatomy.elasticity import Elasticities
from simulator.arrays import IntArray
from simulator.csv_cells import unguarded
from simulator.errors import UserError
from simulator.report.columns import COLUMNS

if TYPE_CHECKING:
    from pandas import DataFrame

SAFE_IN_NAMES = " =,+@"
LONGEST_STEM = 150  # of a file name, which file systems limit to 255 bytes
TEXT_COLUMNS = (
    *("policy", "table", "phase", "step", "tier", "bottleneck", "resource", "kind"),
    *("role", "stream", "operation"),
)
TABLE_COLUMNS = {
    "phases.csv": (
        *(
            "policy",
            "iteration",
            "phase",
            "step",
            "tier",
            "bytes",
            "inter_island_bytes",
            "intra_island_bytes",
        ),
        *("mean_wait_s", "max_wait_s", "transfer_s", "bound_s", "bottleneck"),
    ),
    "links.csv": ("policy", "resource", "kind", "capacity_bytes_per_s", "bytes", "utilisation"),
    "memory.csv": ("policy", "tier", "bytes"),
    "tiers.csv": ("policy", "table", "tier", "start_row", "stop_row", "lookup_share"),
    "popularity.csv": ("table", "rows", "cumulative_share"),
}
OPTIMIZER = "optimizer"  # beside the tiers of memory.csv
SUMMARY_KEYS = {"baseline": str, "policies": list}
MANIFEST_KEYS = {
    **{"name": str, "assumptions": list, "notes": dict, "island_sizes": list},
    **{"topology": dict, "workload": dict, "experiment": dict},
}
TIMELINE_COLUMNS = (
    *("rank", "island", "role", "stream", "kind", "operation"),
    *("enter_s", "start_s", "end_s"),
)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What an iteration's time is made of, and what it follows, if that has been computed."""

    anatomy: Anatomy
    elasticities: Elasticities | None


@dataclass(frozen=True, eq=False)
class Results:
    """What a results folder says. Frames have the columns of `TABLE_COLUMNS`."""

    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]
    phases: "DataFrame"
    links: "DataFrame"
    memory: "DataFrame"
    tiers: "DataFrame"
    popularity: "DataFrame"

    @property
    def policies(self) -> tuple[str, ...]:
        """The labels, in the order of the experiment."""
        return tuple(row["policy"] for row in self.summary["policies"])

    @property
    def baseline(self) -> str:
        return str(self.summary["baseline"])

    @property
    def configuration(self) -> dict[str, Any]:
        """The effective topology, workload and experiment."""
        return {part: self.manifest[part] for part in ("topology", "workload", "experiment")}

    @property
    def island_sizes(self) -> tuple[int, ...]:
        """How many ranks each island has."""
        return tuple(self.manifest["island_sizes"])

    def matrix(self, policy: str, phase: str) -> IntArray | None:
        """[world_size, world_size] bytes of the first iteration; None when the phase left no file. Raises UserError."""
        path = self.folder / matrix_name(policy, phase)
        try:
            return np.loadtxt(path, dtype=np.int64, ndmin=2) if path.exists() else None
        except ValueError as error:
            raise UserError(f"{path}: is no matrix of bytes: {error}") from error

    @property
    def has_first_iteration(self) -> bool:
        """Whether timelines and explanations are there; versions before they were kept wrote none."""
        names = (name(policy) for policy in self.policies for name in (timeline_name, explanation_name))
        return all((self.folder / name).exists() for name in names)

    def timeline(self, policy: str) -> "DataFrame":
        """The lanes of a policy's first iteration, with `TIMELINE_COLUMNS`. Raises UserError."""
        return _read_table(self.folder / timeline_name(policy), TIMELINE_COLUMNS)

    def explanation(self, policy: str) -> Explanation:
        """Of a policy's first iteration. Raises UserError."""
        path = self.folder / explanation_name(policy)
        data = _read_json(path)
        try:
            elasticities = Elasticities.from_json(data) if "elasticities" in data else None
            return Explanation(Anatomy.from_json(data), elasticities)
        except (KeyError, TypeError) as error:
            raise UserError(f"{path}: is no explanation: {error}") from error


def read_results(folder: Path) -> Results:
    """Read all but the matrices. Raises UserError for a file that is missing or lacks a key or a column."""
    frames = {
        name.removesuffix(".csv"): _read_table(folder / name, columns)
        for name, columns in TABLE_COLUMNS.items()
    }
    summary = _read_object(folder / "summary.json", SUMMARY_KEYS)
    _require_policies(folder / "summary.json", summary)
    return Results(folder, summary, _read_object(folder / "manifest.json", MANIFEST_KEYS), **frames)


def matrix_name(policy: str, phase: str) -> str:
    """The file of one policy's byte matrix of one phase."""
    return f"traffic_{file_stem(policy)}_{phase}.txt"


def trace_name(policy: str) -> str:
    """The file of one policy's timeline."""
    return f"trace_{file_stem(policy)}.json"


def timeline_name(policy: str) -> str:
    """The file of the lanes of one policy's timeline."""
    return f"timeline_{file_stem(policy)}.csv"


def explanation_name(policy: str) -> str:
    """The file of one policy's explanation."""
    return f"explanation_{file_stem(policy)}.json"


def file_stem(label: str) -> str:
    """A label as part of a file name: what a path or a shell might take amiss is percent-encoded, as in URLs.

    A long one is cut, and a digest tells it from others that begin alike.
    """
    stem = quote(label, safe=SAFE_IN_NAMES)
    if len(stem) <= LONGEST_STEM:
        return stem
    return f"{stem[:LONGEST_STEM]}~{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; a results folder holds it") from error
    except ValueError as error:
        raise UserError(f"{path}: is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: holds {type(content).__name__}; a results folder has an object there")
    return content


def _read_object(path: Path, kinds: Mapping[str, type]) -> dict[str, Any]:
    content = _read_json(path)
    wrong = [key for key, kind in kinds.items() if not isinstance(content.get(key), kind)]
    if wrong:
        raise UserError(f"{path}: lacks {', '.join(wrong)}, or has it in another form than a results folder")
    return content


def _require_policies(path: Path, summary: Mapping[str, Any]) -> None:
    """The baseline is one of the policies, and each has every figure."""
    labels = []
    for row in summary["policies"]:
        missing = [column.key for column in COLUMNS if not isinstance(row, dict) or column.key not in row]
        if missing:
            raise UserError(f"{path}: a policy lacks {', '.join(missing)}")
        labels.append(row["policy"])
    if summary["baseline"] not in labels:
        raise UserError(f"{path}: the baseline, {summary['baseline']!r}, is none of its policies")


def _read_table(path: Path, columns: Sequence[str]) -> "DataFrame":
    import pandas as pd

    texts = dict.fromkeys(TEXT_COLUMNS, str)
    missing = {column: [""] for column in columns if column not in texts}
    try:
        frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=missing)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; a results folder holds it") from error
    except pd.errors.EmptyDataError:
        # A table without rows has no header line either.
        return pd.DataFrame({column: pd.Series(dtype=texts.get(column, float)) for column in columns})
    except ValueError as error:
        raise UserError(f"{path}: is not a table: {error}") from error
    _require_columns(path, frame.columns, columns)
    for column in frame.columns.intersection(list(TEXT_COLUMNS)):
        frame[column] = frame[column].map(unguarded)
    for column in missing:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            raise UserError(f"{path}: the column {column} has what is no number")
    return frame


def _require_columns(path: Path, found: Iterable[str], wanted: Sequence[str]) -> None:
    missing = [column for column in wanted if column not in set(found)]
    if missing:
        raise UserError(f"{path}: lacks the column(s) {', '.join(missing)}")
