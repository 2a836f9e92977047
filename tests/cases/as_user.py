"""What a user does in the tests of practitioners' cases: writes files, calls commands, reads what comes back."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simulator import cli


@dataclass(frozen=True)
class Said:
    """What a command printed, and how it ended."""

    out: str
    err: str
    status: int


class User:
    """Sits in a folder of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def topology(
        self, name: str = "t.yaml", *, islands: str = "2", size: int | None = 2, more: str = ""
    ) -> str:
        """100 GB/s ports, 10 GB/s NICs, no latency, unless `more` lines replace a key."""
        keys = {
            "name": "case",
            "islands": islands,
            "gpus_per_island": str(size),
            "gpu": "{hbm_capacity: 80 GB, hbm_bandwidth: 3 TB/s}",
            "scale_up": "{bandwidth: 100 GB/s}",
            "scale_out": "{nic_bandwidth: 10 GB/s}",
        }
        if islands.startswith("["):
            del keys["gpus_per_island"]
        keys |= dict(line.split(": ", 1) for line in more.splitlines())
        return self.file(name, "".join(f"{key}: {value}\n" for key, value in keys.items()))

    def workload(
        self,
        *tables: str,
        name: str = "w.yaml",
        batch: int | str = 10,
        dtype: str = "fp32",
        popularity: str = "{kind: uniform}",
        more: str = "",
    ) -> str:
        """Tables t0, t1, ... of the keys given; uniform unless they say otherwise."""
        listed = "".join(
            f"  - {{name: t{index}, {table}"
            + ("" if "popularity" in table or "trace" in table else f", popularity: {popularity}")
            + "}\n"
            for index, table in enumerate(tables)
        )
        head = f"name: case\nbatch_per_rank: {batch}\nembedding_dtype: {dtype}\n{more}"
        return self.file(name, f"{head}tables:\n{listed}")

    def file(self, name: str, text: str) -> str:
        Path(name).write_text(text, encoding="utf-8")
        return name

    def call(self, *command: str) -> Said:
        """A command by whatever end it comes to."""
        self.monkeypatch.setattr("sys.argv", ["shardsim", *command])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        printed = self.capsys.readouterr()
        return Said(printed.out, printed.err, int(stopped.value.code or 0))

    def does(self, *command: str) -> str:
        """What a command that succeeds prints."""
        said = self.call(*command)
        assert said.status == 0, said.err
        return said.out

    def is_refused(self, *command: str) -> str:
        """What is said of a command that is refused, before anything is printed as a result."""
        said = self.call(*command)
        assert said.status == 2
        assert said.out == ""
        assert "Traceback" not in said.err
        return said.err.rstrip("\n")

    def compares(
        self, topology: str, workload: str, *policies: str, more: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The figures that `compare` writes, by policy."""
        named = [word for policy in policies for word in ("--policy", policy)]
        self.does("compare", topology, workload, *named, "--iterations", "1", *more, "--json", "c.json")
        figures = json.loads(Path("c.json").read_text())
        return {each["policy"]: each for each in figures["policies"]}

    def exchanges(self, topology: str, rows: list[list[int]], *more: str) -> dict[str, Any]:
        """The figures of one all-to-all of a matrix, solved exactly."""
        self.file("m.txt", "\n".join(" ".join(map(str, row)) for row in rows) + "\n")
        self.does("all-to-all", topology, "--matrix", "m.txt", "--exact", *more, "--json", "a.json")
        figures: dict[str, Any] = json.loads(Path("a.json").read_text())
        return figures
