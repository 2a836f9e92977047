"""Content hashes of the files that went into an experiment, by name; never by path."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.errors import UserError
from simulator.workload.workload import Workload


def file_digest(path: Path) -> str:
    """SHA-256 of the content, read in pieces. Raises UserError for a file that is gone."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from error


def workload_inputs(workload: Workload) -> dict[str, str]:
    """Digests of the traces and histograms that a workload was built from, by the name its file gives them."""
    if workload.spec is None or workload.folder is None:
        return {}
    names = sorted(set(named_files(workload.spec.model_dump(mode="json"))))
    return {name: file_digest(workload.folder / name) for name in names}


def named_files(data: Any) -> Iterator[str]:
    """The values of all keys `path` in nested data."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "path" and isinstance(value, str):
                yield value
            else:
                yield from named_files(value)
    elif isinstance(data, list):
        for entry in data:
            yield from named_files(entry)
