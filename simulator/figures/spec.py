"""The experiment file of a dataset, which is a sweep file, and what is smaller in quick mode."""

from pathlib import Path

from pydantic import Field

from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.experiment.spec import Engine
from simulator.sweeps.spec import load_sweep_spec
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.vary import Vary

QUICK_FILE = "quick.yaml"


class SmallerSpec(StrictModel):
    """What takes the place of a sweep file's own keys."""

    vary: Vary | None = Field(None, description="default as in full")
    engine: Engine | None = Field(None, description="default as in full")
    iterations: PositiveCount | None = Field(None, description="default as in full")


class QuickSpec(StrictModel):
    """The file of quick mode, beside the sweep files."""

    datasets: dict[str, SmallerSpec] = Field(description="by the name of the dataset; required")


def load_dataset(path: Path, *, quick: bool) -> Sweep:
    """The sweep of a dataset's file. Raises UserError with a line for each problem."""
    spec = load_sweep_spec(path)
    if not quick:
        return Sweep(spec, path.parent)
    smaller = load_model(path.parent / QUICK_FILE, QuickSpec).datasets.get(path.stem, SmallerSpec())
    changed = {
        name: value for name in SmallerSpec.model_fields if (value := getattr(smaller, name)) is not None
    }
    return Sweep(spec.model_copy(update=changed), path.parent)
