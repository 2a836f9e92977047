"""A file of the wrong kind is told in one line, whichever verb it is given to."""

import os
from pathlib import Path

import pytest

from simulator import cli
from simulator.config.kinds import MARKS, NAMES, kind_of, wrong_kind
from simulator.validate import DESCRIBE, MODELS, likeliest

FILES = {
    "topology": """
name: t
islands: 2
gpus_per_island: 2
gpu: {hbm_capacity: 80 GB, hbm_bandwidth: 3 TB/s}
scale_up: {bandwidth: 300 GB/s}
scale_out: {nic_bandwidth: 25 GB/s}
""",
    "workload": """
name: w
batch_per_rank: 4
tables: [{name: items, rows: 100, dim: 4, length: 3, popularity: {kind: zipf, s: 1.0}}]
""",
    "experiment": """
name: e
topology: topology.yaml
workload: workload.yaml
policies: [row_wise]
iterations: 1
""",
    "sweep": """
name: s
topology: topology.yaml
workload: workload.yaml
policies: [row_wise]
vary: {topology.scale_out.nic_bandwidth: [25 GB/s, 50 GB/s]}
""",
    "plan": """
policy: mine
world_size: 4
tables: [{table: items, segments: [{to: 100, tier: global}]}]
""",
    "prices": """
prices: [{where: {}, price: 3}]
""",
}
SLOTS = [  # a command with one file to come, and the kind that it expects there
    (["compare", "?", "workload.yaml", "-p", "row_wise"], "topology"),
    (["compare", "topology.yaml", "?", "-p", "row_wise"], "workload"),
    (["compare", "topology.yaml", "workload.yaml", "--plan", "?"], "plan"),
    (["plan", "?", "workload.yaml", "-p", "row_wise"], "topology"),
    (["plan", "topology.yaml", "?", "-p", "row_wise"], "workload"),
    (["all-to-all", "?", "--bytes", "1 GB"], "topology"),
    (["run", "?"], "experiment"),
    (["sweep", "?"], "sweep"),
    (["frontier", "points.csv", "--prices", "?"], "prices"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, text in FILES.items():
        Path(f"{kind}.yaml").write_text(text)


def run(command: list[str], monkeypatch: pytest.MonkeyPatch, *, status: int = 0) -> None:
    monkeypatch.setattr("sys.argv", ["shardsim", *command])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == status


def refusal(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    run(command, monkeypatch, status=2)
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("given", FILES)
@pytest.mark.parametrize(
    ("command", "expected"), SLOTS, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_file_of_the_wrong_kind_is_one_line(
    command: list[str],
    expected: str,
    given: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if given == expected:
        return
    if "points.csv" in command:
        run(["sweep", "sweep.yaml", "--out", "points", "--workers", "1"], monkeypatch)
        command = ["points" if word == "points.csv" else word for word in command]
        capsys.readouterr()
    said = refusal([word.replace("?", f"{given}.yaml") for word in command], monkeypatch, capsys)
    assert said == [f"{given}.yaml: is {NAMES[given]}, expected {NAMES[expected]}"]


@pytest.mark.parametrize(("file", "key"), [("experiment", "topology"), ("experiment", "workload"),
                                           ("sweep", "topology"), ("sweep", "workload")])  # fmt: skip
@pytest.mark.parametrize("verb", ["validate", ""])
def test_files_that_a_file_names(
    file: str, key: str, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.yaml").write_text(FILES[file].replace(f"{key}: {key}.yaml", f"{key}: plan.yaml"))
    own_verb = {"experiment": "run", "sweep": "sweep"}[file]
    said = refusal([verb or own_verb, "bad.yaml"], monkeypatch, capsys)
    assert said == [f"plan.yaml: is a plan, expected {NAMES[key]}"]


@pytest.mark.parametrize("kind", FILES)
def test_validate_knows_each_kind(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["validate", f"{kind}.yaml"], monkeypatch)
    assert capsys.readouterr().out.startswith(f"{kind}.yaml: {kind}")


@pytest.mark.parametrize("kind", MARKS)
def test_a_schema_has_the_marks_of_its_kind(kind: str) -> None:
    assert kind_of([field.alias or key for key, field in MODELS[kind].model_fields.items()]) == kind


def test_every_kind_is_named_and_described() -> None:
    assert MARKS.keys() == NAMES.keys() == MODELS.keys() == DESCRIBE.keys() == FILES.keys()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["name"], "topology"),  # tells nothing
        (["tables", "islands", "gpu"], "topology"),  # a key too many
        (["islands", "tables", "batch_per_rank"], "workload"),
        (["policy", "tables", "batch_per_rank"], "workload"),
        (["island", "gpus_per_island"], "topology"),  # a key misspelled
        ([], "plan"),
    ],
)
def test_a_key_too_many_or_too_few_is_no_other_kind(found: list[str], expected: str) -> None:
    assert wrong_kind(found, MARKS[expected]) == []


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (["name"], None),
        (["nothing", "known"], None),
        (["tables"], "workload"),
        (["tables", "execution", "policy"], "plan"),
        (["gpu", "scale_up", "name"], "topology"),
        (["topology", "workload", "baseline"], "experiment"),
    ],
)
def test_what_has_no_mark_is_told_by_most_of_its_keys(keys: list[str], kind: str | None) -> None:
    assert likeliest(keys) == kind


@pytest.mark.parametrize(
    "command",
    [
        ["validate", "?"],
        ["all-to-all", "topology.yaml", "--matrix", "?"],
        ["calibrate", "?"],
        ["compare", "topology.yaml", "workload.yaml", "--plan", "?"],
        ["explain", "?"],
        ["frontier", "?"],
        ["sweep-combine", "?", "--out", "c.csv"],
        ["sweep-plot", "?", "--out", "p.png"],
        *(["profile", "?", "--format", name] for name in ("user_item", "sessions", "user_items", "locality")),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("odd", ["pipe", "folder", "nothing"])
def test_what_is_no_file_is_one_line(
    command: list[str], odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe that nobody writes to would be waited for without end."""
    os.mkfifo("pipe")
    Path("folder").mkdir()
    said = refusal([word.replace("?", odd) for word in command], monkeypatch, capsys)
    assert len(said) == 1
    assert said[0].startswith(odd)


def test_a_trace_that_is_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    trace = "trace: {path: pipe, format: sessions}"
    Path("bad.yaml").write_text(
        f"name: w\nbatch_per_rank: 4\ntables: [{{name: items, rows: 100, dim: 4, {trace}}}]\n"
    )
    assert refusal(["validate", "bad.yaml"], monkeypatch, capsys) == [
        "pipe: table items: is not a regular file"
    ]
