"""A results folder that somebody edited is refused at the door, in a line that names the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from results_folder import write_folder

from simulator.errors import UserError
from simulator.report.folder import read_results

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "folder")


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        ("summary", lambda data: data.pop("policies"), "lacks policies"),
        ("summary", lambda data: data.update(policies=None), "lacks policies, or has it in another form"),
        ("summary", lambda data: data.update(policies=["row_wise"]), "a policy lacks policy, global_all"),
        ("summary", lambda data: data["policies"][0].pop("bound_s"), "a policy lacks bound_s"),
        ("summary", lambda data: data.update(policies=[]), "the baseline, 'row_wise', is none of its"),
        ("summary", lambda data: data.update(baseline="x"), "the baseline, 'x', is none of its policies"),
        ("manifest", lambda data: data.pop("name"), "lacks name"),
        ("manifest", lambda data: data.update(notes=[], island_sizes=8), "lacks notes, island_sizes"),
    ],
)
def test_a_key_that_is_gone(folder: Path, name: str, edit: Edit, said: str) -> None:
    path = folder / f"{name}.json"
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(json.dumps(data))
    with pytest.raises(UserError) as caught:
        read_results(folder)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_cell_that_is_no_number(folder: Path) -> None:
    path = folder / "links.csv"
    head, first, *rest = path.read_text().splitlines()
    cells = first.split(",")
    cells[head.split(",").index("utilisation")] = "high"
    path.write_text("\n".join([head, ",".join(cells), *rest]))
    with pytest.raises(UserError, match=r"links\.csv: the column utilisation has what is no number"):
        read_results(folder)


def test_a_matrix_of_rows_that_differ(folder: Path) -> None:
    (path,) = folder.glob("traffic_row_wise_embeddings_*.txt")
    path.write_text("1 2\n3\n")
    with pytest.raises(UserError, match=r"is no matrix of bytes"):
        read_results(folder).matrix("row_wise", path.stem.removeprefix("traffic_row_wise_"))
