"""`figures`: brings the data of figures up to date and draws them.

Experiment files and committed data are in `experiments/figures` of the project's folder, pictures in `docs/images`.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.errors import UserError
from simulator.figures.catalogue import FIGURES
from simulator.figures.collect import Places, collect
from simulator.figures.figure import PaperFigure
from simulator.figures.look import small_print
from simulator.files import held
from simulator.report.plots.style import house_style, new_figure, title
from simulator.sharding.registry import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

DATA_FOLDER = Path("experiments/figures")
IMAGE_FOLDER = Path("docs/images")
QUICK_FOLDER = Path("results/figures")
QUICK_NOTE = "QUICK MODE: fewer points, tables and seeds than said here. "
DOTS_PER_INCH = 240
WORKERS = 2

Announce = Callable[[str], None]


def figures_named(names: Sequence[str]) -> tuple[PaperFigure, ...]:
    """Those figures in their order; all when none is named. Raises UserError with the nearest name."""
    every = {figure.name: figure for figure in FIGURES}
    for name in names:
        if name not in every:
            raise UserError(unknown("figure", name, list(every)))
    return tuple(figure for figure in FIGURES if not names or figure.name in names)


def make_figures(
    names: Sequence[str],
    *,
    quick: bool = False,
    out: Path | None = None,
    workers: int = WORKERS,
    announce: Announce = lambda text: print(text, file=sys.stderr, flush=True),
) -> list[Path]:
    """Make the figures of these names, all when there is none, and give the pictures' paths.

    Data and pictures go to `out`; by default to where the committed ones are, in quick mode to `results/figures`.
    Raises UserError when the folder of experiment files is not there, or a point can't be made.
    """
    chosen = figures_named(names)
    if not DATA_FOLDER.is_dir():
        raise UserError(f"{DATA_FOLDER}: not found; figures are made in the project's folder")
    target = data_folder(out, quick=quick)
    images = IMAGE_FOLDER if target == DATA_FOLDER else target
    for folder in (target, images):
        _make_folder(folder)
    places = Places(DATA_FOLDER, target, quick)
    pictures = []
    with held(target):
        for figure in chosen:
            for dataset in figure.datasets:
                collect(dataset, places, workers=workers, observer=_told(figure, dataset.name, announce))
            picture = images / f"paper_{figure.name}.png"
            pictures.append(draw_figure(figure, target, picture, note=QUICK_NOTE if quick else ""))
    return pictures


def data_folder(out: Path | None, *, quick: bool) -> Path:
    """Where data go: to `out`, by default to where the committed ones are, in quick mode to `results/figures`."""
    return out or (QUICK_FOLDER if quick else DATA_FOLDER)


def draw_figure(figure: PaperFigure, data: Path, picture: Path, *, note: str = "") -> Path:
    """Draw one figure from the CSVs in a folder; the note goes before its assumptions."""
    frames = {dataset.name: read_frame(data / f"{dataset.name}.csv") for dataset in figure.datasets}
    with house_style():
        canvas = drawn(figure, frames, note=note)
        canvas.savefig(picture, dpi=DOTS_PER_INCH, metadata={"Software": None})
    return picture


def drawn(figure: PaperFigure, frames: "dict[str, DataFrame]", *, note: str = "") -> "Figure":
    """The figure; to be called in the house style."""
    canvas = new_figure(figure.height_in)
    title(canvas, figure.question)
    small_print(canvas, note + figure.assumptions)
    figure.draw(canvas, frames)
    return canvas


def read_frame(path: Path) -> "DataFrame":
    """A dataset as a frame; labels stay text."""
    import pandas as pd

    return pd.read_csv(path, dtype={"policy": str, "key": str})


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {(error.strerror or str(error)).lower()}") from error


def _told(figure: PaperFigure, dataset: str, announce: Announce) -> Callable[[int, int], None]:
    """Says every tenth of a dataset that is being made, and nothing of one that is done."""
    told = -1

    def observer(done: int, every: int) -> None:
        """Announce every tenth of the points."""
        nonlocal told
        tenth = 10 * done // max(every, 1)
        if tenth > told and not (told < 0 and done == every):
            announce(f"figure {figure.number} {dataset}: {done} of {every} points")
        told = tenth

    return observer
