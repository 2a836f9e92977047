"""The experiment file of a dataset: a sweep file, and what is smaller in quick mode."""

from pathlib import Path

from pydantic import Field

from simulator.config.load import load_model
from simulator.config.model import StrictModel
from simulator.config.types import PositiveCount
from simulator.experiment.spec import Engine
from simulator.sweeps.spec import SweepSpec
from simulator.sweeps.sweep import Sweep
from simulator.sweeps.vary import Vary


class QuickSpec(StrictModel):
    """What takes the place of the file's own keys in quick mode."""

    vary: Vary | None = Field(None, description="default as in full")
    engine: Engine | None = Field(None, description="default as in full")
    iterations: PositiveCount | None = Field(None, description="default as in full")


class DatasetSpec(SweepSpec):
    """What a figure's data are made from. Paths are relative to the file."""

    quick: QuickSpec = Field(QuickSpec(), description="what is smaller in quick mode; default nothing")


def load_dataset(path: Path, *, quick: bool) -> Sweep:
    """The sweep of a dataset's file. Raises UserError with a line for each problem."""
    spec = load_model(path, DatasetSpec)
    smaller = {
        name: value for name in QuickSpec.model_fields if (value := getattr(spec.quick, name)) is not None
    }
    return Sweep(spec.model_copy(update=smaller) if quick else spec, path.parent)
