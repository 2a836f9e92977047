"""The comparison at 80 columns."""

from typing import Any

import pytest
from pydantic import Field

from simulator.config.model import StrictModel
from simulator.report.columns import COLUMNS, Units
from simulator.report.table import comparison_table, comparison_text, print_comparison, print_policies
from simulator.sharding.registry import NoOptions, Policy


def row(policy: str, **changes: Any) -> dict[str, Any]:
    figures = {
        "policy": policy,
        "iterations": 8,
        "global_all_to_all_bytes": 12.0e9,
        "inter_island_bytes": 11.5e9,
        "intra_island_bytes": 0.9e9,
        "replica_sync_inter_island_bytes": 0,
        "communication_s": 0.0123,
        "communication_without_sync_s": 0.0123,
        "iteration_s": 0.0213,
        "bound_s": 0.011,
        "memory_bytes_per_rank_max": 123_456_789,
        "all_to_all_reduction": 0.0,
        "communication_speedup": 1.0,
        "bottleneck": "nic/3/egress",
        "imbalance": 1.31,
    }
    return figures | changes


def summary(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"baseline": "row_wise", "policies": list(rows)}


@pytest.fixture
def usual() -> dict[str, Any]:
    return summary(
        row("row_wise"),
        row("table_wise", bottleneck="scale_up/1023/ingress", imbalance=None),
        row(
            "flexshard",
            global_all_to_all_bytes=1.5e9,
            inter_island_bytes=2.0e9,
            replica_sync_inter_island_bytes=0.5e9,
            communication_s=0.003,
            communication_without_sync_s=0.002,
            all_to_all_reduction=0.875,
            communication_speedup=4.1,
        ),
    )


EXPECTED = """\
Bytes an iteration, all ranks together, and memory of the fullest GPU

                  global             on  of it      on  memory
 policy       all-to-all     cut   NICs   sync  NVLink   a GPU
                      GB             GB     GB      GB      MB
 ──────────────────────────────────────────────────────────────
 row_wise *        12.00   0.0 %  11.50   0.00    0.90   123
 table_wise        12.00   0.0 %  11.50   0.00    0.90   123
 flexshard          1.50  87.5 %   2.00   0.50    0.90   123

Time an iteration

             communi-  without            itera-
 policy        cation     sync  speed-up    tion  bottleneck
                   ms       ms                   ms
 ──────────────────────────────────────────────────────────────────────
 row_wise *      12.3     12.3     1.00x       21.3  nic/3/egress
 table_wise      12.3     12.3     1.00x       21.3  scale_up/1023/ingress
 flexshard        3.0      2.0     4.10x       21.3  nic/3/egress

* baseline of cut and speed-up. Figures are means over 8 iterations.
"""


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_whole_text(usual: dict[str, Any]) -> None:
    rules = comparison_text(usual).replace("─", "")
    assert words(rules) == words(EXPECTED.replace("─", ""))


def test_columns_stand_where_they_should(usual: dict[str, Any]) -> None:
    """Numbers end where their headings end."""
    lines = comparison_text(usual).splitlines()
    heading = next(line for line in lines if line.startswith(" policy") and "all-to-all" in line)
    body = next(line for line in lines if line.startswith(" flexshard"))
    assert heading.index("all-to-all") + len("all-to-all") == body.index("1.50") + len("1.50")
    assert heading.rindex("a GPU") + len("a GPU") == body.rindex("123") + len("123")


@pytest.mark.parametrize(
    "label", ["x" * 70, "flexshard memory=hbm dedup=rank sync=sparse sync_algorithm=flat"]
)
def test_a_long_name_folds_and_loses_nothing(usual: dict[str, Any], label: str) -> None:
    usual["policies"].append(row(label, bottleneck="scale_up/1023/ingress"))
    text = comparison_text(usual)
    assert max(map(len, text.splitlines())) <= 80
    tail = text[text.index("Time an iteration") :].splitlines()
    folded = "".join(line[1:18] for line in tail if line.startswith(" ") and "─" not in line)
    assert label.replace(" ", "") in folded.replace(" ", "")
    assert text.count("scale_up/1023/ingress") == 2


def test_ten_policies_fit(usual: dict[str, Any]) -> None:
    usual["policies"] += [row(f"two_dimensional replicas={k}") for k in range(7)]
    lines = comparison_text(usual).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(" two_dimensional replicas=") for line in lines) == 7  # the table with room
    assert sum(line.startswith(" two_dimensional") for line in lines) == 14


def test_what_is_missing_is_said(usual: dict[str, Any]) -> None:
    usual["policies"][1] |= {"all_to_all_reduction": None, "communication_speedup": None}
    lines = [line for line in comparison_text(usual).splitlines() if line.startswith(" table_wise")]
    assert all("n/a" in line for line in lines)
    assert "None" not in "".join(lines)


def test_no_traffic_at_all() -> None:
    nothing = dict.fromkeys(
        [
            *("global_all_to_all_bytes", "inter_island_bytes", "intra_island_bytes"),
            *("replica_sync_inter_island_bytes", "communication_s", "communication_without_sync_s"),
            *("iteration_s", "bound_s"),
        ],
        0,
    )
    missing = dict.fromkeys(["all_to_all_reduction", "communication_speedup", "imbalance"])
    text = comparison_text(summary(row("row_wise", **nothing, **missing, bottleneck="none")))
    assert ["row_wise", "*", "0", "n/a", "0", "0", "0", "123"] in words(text)
    assert ["row_wise", "*", "0", "0", "n/a", "0", "none"] in words(text)
    assert "nan" not in text.lower()


def test_markup_in_a_name_is_text(usual: dict[str, Any]) -> None:
    usual["policies"].append(row("[red]hot[/red]"))
    assert comparison_text(usual).count("[red]hot[/red]") == 2


def test_columns_of_one_kind_share_a_unit(usual: dict[str, Any]) -> None:
    """A small sync beside a large total must not look large."""
    usual["policies"][2]["replica_sync_inter_island_bytes"] = 20e6
    (line,) = [
        line for line in comparison_text(usual).splitlines() if line.startswith(" flexshard") and "%" in line
    ]
    assert line.split() == ["flexshard", "1.50", "87.5", "%", "2.00", "0.02", "0.90", "123"]


def test_the_same_on_a_console(usual: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(width=80, record=True, color_system=None)
    with console.capture() as capture:
        console.print(comparison_table(usual))
    printed = [line.rstrip() for line in capture.get().splitlines()]
    assert printed == comparison_text(usual).splitlines()


def test_every_figure_of_a_summary_has_a_column(usual: dict[str, Any]) -> None:
    assert {column.key for column in COLUMNS} == set(row("any")) - {"iterations"}
    assert all(column.meaning.endswith(".") for column in COLUMNS)


def test_units(usual: dict[str, Any]) -> None:
    units = Units(usual["policies"])
    found = {column.key: units.unit(column) for column in COLUMNS}
    assert found["inter_island_bytes"] == found["replica_sync_inter_island_bytes"] == "GB"
    assert found["memory_bytes_per_rank_max"] == "MB"
    assert found["communication_s"] == found["bound_s"] == "ms"
    assert found["policy"] == found["communication_speedup"] == ""


def test_the_headline_is_printed_with_its_assumptions(
    usual: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = (
        "Replicas are synchronised every iteration, which is counted in the latency unless it says without."
    )
    print_comparison({**usual, "assumptions": ["Synthetic skew.", long]})
    printed = capsys.readouterr().out
    assert printed.startswith(comparison_text(usual))
    claim = printed.removeprefix(comparison_text(usual)).splitlines()
    assert claim[1].startswith("Against row_wise, flexshard cuts ")
    assert claim[-4:] == [
        "Under these assumptions:",
        "- Synthetic skew.",
        "- Replicas are synchronised every iteration, which is counted in the latency",
        "  unless it says without.",
    ]
    assert max(map(len, printed.splitlines())) <= 80


def test_a_comparison_without_assumptions_is_not_printed(usual: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must come with its assumptions"):
        print_comparison({**usual, "assumptions": []})


class Options(StrictModel):
    """Of a made-up policy."""

    memory: str = Field("baseline", description="what copies may take; default baseline")
    budget: str | None = None


def test_policies_are_listed_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    def nothing(*_: Any) -> Any:
        raise AssertionError("a list makes no plan")

    print_policies(
        (
            Policy("flexshard", "rows in tiers", Options, nothing),
            Policy("row_wise", "rows in blocks [evenly]", NoOptions, nothing),
        )
    )
    assert capsys.readouterr().out.splitlines() == [
        "flexshard: rows in tiers",
        "    memory  what copies may take; default baseline",
        "    budget",
        "row_wise: rows in blocks [evenly]",
    ]
