"""The corpus of broken inputs: each is refused with exactly the lines beside it, and leaves nothing behind."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator import cli
from simulator.sharding.execution import Execution
from simulator.sharding.policies.flexshard import FlexShardOptions
from simulator.sharding.registry import available
from simulator.topology.spec import ScaleUpSpec, TopologySpec

CORPUS = Path(__file__).parents[1] / "corpus"
GIVEN = {file.name: file.read_text() for file in sorted((CORPUS / "given").iterdir())}
LONG_NUMBER = "9" * 5000
NOTICE = "compiling what this command needs (once) ...\n"  # in front, where nothing is compiled yet
CHECKPOINT = Path("results/iterations.jsonl")  # of a run that is refused by its first replay
LISTS = {  # that grow with the program
    "<policies>": [policy.name for policy in available()],
    "<switches>": list(Execution.model_fields),
    "<options of flexshard>": list(FlexShardOptions.model_fields),
    "<keys of topology>": list(TopologySpec.model_fields),
    "<keys of scale_up>": list(ScaleUpSpec.model_fields),
}


def cases() -> list[Any]:
    """Every case of every file, with the file's command and target where it has none of its own."""
    found = []
    for file in sorted(CORPUS.glob("*.yaml")):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        shared = {key: content[key] for key in ("command", "file") if key in content}
        found += [
            pytest.param({**shared, **case}, id=f"{file.stem}: {case['name']}") for case in content["cases"]
        ]
    return found


def files() -> set[Path]:
    return {path for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", cases())
def test_is_refused_in_these_words(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in {**GIVEN, **case.get("files", {})}.items():
        Path(name).write_text(text, encoding="utf-8")
    if "text" in case:
        text = case["text"].replace("<5000 digits>", LONG_NUMBER)
        Path(case["file"]).write_bytes(text.encode("latin1" if case.get("latin1") else "utf-8"))
    before = files()
    monkeypatch.setattr("sys.argv", ["shardsim", *case["command"]])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    printed = capsys.readouterr()
    said = printed.err.removeprefix(NOTICE)
    for name, words in LISTS.items():
        said = said.replace(", ".join(words), name)
    assert said.splitlines() == case["says"].splitlines()
    assert stopped.value.code == 2
    assert printed.out == ""
    assert files() - before <= {CHECKPOINT}
    if CHECKPOINT.exists():
        assert [list(json.loads(line)) for line in CHECKPOINT.read_text().splitlines()] == [["digest"]]


def test_every_kind_of_input_is_in_the_corpus_and_no_case_stands_twice() -> None:
    found = cases()
    names = [case.id for case in found]
    assert len(set(names)) == len(names)
    kinds = {str(name).partition(":")[0] for name in names}
    assert kinds >= {"topologies", "workloads", "experiments", "plans", "matrices", "traces", "logs"}
    assert len(names) >= 300


def test_lines_of_the_corpus_are_short_enough_to_read() -> None:
    for case in cases():
        [content] = case.values
        for line in content["says"].splitlines():
            assert len(line) <= 260, line
