"""What made a dataset: kind of machine, versions, seeds and a digest of the configuration; no clock time, no path."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from simulator.experiment.provenance import versions
from simulator.files import replace_file
from simulator.sweeps.point import Point, digest
from simulator.sweeps.spec import SweepSpec


@dataclass(frozen=True)
class Origin:
    """Written beside a dataset's CSV."""

    dataset: str
    machine: str
    versions: dict[str, str]
    engine: str
    iterations: int
    seeds: list[int]
    points: int
    configuration: str  # SHA-256 over the points' effective configurations, defaults filled in

    def write(self, path: Path) -> None:
        """As JSON. Raises UserError when the file can't be written."""
        replace_file(path, json.dumps(asdict(self), indent=1) + "\n")


def origin(spec: SweepSpec, points: Sequence[Point]) -> Origin:
    """Of the data that this machine makes of these points."""
    return Origin(
        dataset=spec.name,
        machine=f"{platform.system()} {platform.machine()}",
        versions=versions(),
        engine=spec.engine,
        iterations=spec.iterations,
        seeds=sorted({point.seed for point in points}),
        points=len(points),
        configuration=digest([point.key for point in points]),
    )
