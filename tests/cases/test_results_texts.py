"""Practitioners' cases 16 to 24, texts, draws and traces, as a user meets them: what is said, and what is simulated."""

from pathlib import Path

import numpy as np
import pytest
from as_user import User

import simulator

LINE = "rows: 100, dim: 4, length: 5"


def nic(user: User, text: str) -> str:
    return user.topology(more=f"scale_out: {{nic_bandwidth: {text}}}")


def test_case_16_spellings_of_one_rate_give_one_result(user: User) -> None:
    """2 MB through each NIC."""
    rows = [[10**6] * 4] * 4
    for text, bytes_per_s in (
        ("25Gbps", 3.125e9),
        ("25 Gbit/s", 3.125e9),
        ("25 GB/s", 25e9),
        ("25GiB/s", 26_843_545_600),
    ):
        assert user.exchanges(nic(user, text), rows)["time_s"] == pytest.approx(2e6 / bytes_per_s, rel=1e-12)
    bits, octets = (user.exchanges(nic(user, text), rows) for text in ("400 Gbit/s", "50 GB/s"))
    assert bits == octets


@pytest.mark.parametrize("verb", ["validate", "all-to-all"])
def test_case_16_a_rate_without_a_unit_or_in_lower_case_is_refused(user: User, verb: str) -> None:
    more = () if verb == "validate" else ("--bytes", "1 GB")
    said = user.is_refused(verb, nic(user, "25"), *more)
    assert said.startswith("t.yaml:6:28: scale_out.nic_bandwidth: ")
    assert "25 GB/s" in said
    assert "25 Gbit/s" in said
    said = user.is_refused(verb, nic(user, "25 gb/s"), *more)
    assert "GB/s" in said
    assert "Gbit/s" in said
    assert len(said.splitlines()) == 1


def test_case_17_counts(user: User) -> None:
    assert "1,000,000,000 rows" in user.does("validate", user.workload("rows: 1e9, dim: 4, length: 5"))
    assert "8,000,000 rows" in user.does("validate", user.workload("rows: 8_000_000, dim: 4, length: 5"))
    far = user.topology(more="scale_up: {bandwidth: 100 GB/s, latency: 1e-6 s}")
    matrix = [[0, 1, 0, 0], [0] * 4, [0] * 4, [0] * 4]
    assert user.exchanges(far, matrix)["time_s"] == pytest.approx(1e-6 + 1e-11)
    said = user.is_refused("validate", user.workload("rows: 1.5, dim: 4, length: 5"))
    assert said == "w.yaml:5:22: tables[0].rows: 1.5 is not a whole number"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "name: t0\n    rows: 8,000,000\n    dim: 4\n    length: 5\n    popularity: {kind: uniform}\n",
            "w.yaml:5:11: tables[0].rows: '8,000,000' has commas: write 8_000_000",
        ),
        (
            "{name: t0, rows: 8,000,000, dim: 4, length: 5, popularity: {kind: uniform}}\n",
            "w.yaml:4:24: tables[0].000: got a number as a key: quote it, or group digits as in 8_000_000",
        ),
    ],
    ids=["in a line", "in braces"],
)
def test_case_17_commas_have_a_hint(user: User, table: str, said: str) -> None:
    file = user.file("w.yaml", f"name: case\nbatch_per_rank: 4\ntables:\n  - {table}")
    assert user.is_refused("validate", file) == said


def test_case_18_off_is_off_and_a_name_is_no_boolean(user: User) -> None:
    topology, workload = user.topology(), user.workload(LINE)
    off, none = (
        user.compares(topology, workload, f"{{name: row_wise, label: x, dedup: {word}}}")["x"]
        for word in ("off", "none")
    )
    assert off == none
    said = user.is_refused("validate", user.topology(more="name: no"))
    assert said == "t.yaml:1:7: name: got a boolean (no): quote it"
    said = user.is_refused("validate", user.topology(more="on: 1"))
    assert said == "t.yaml:7:1: on: got a boolean as a key: quote it"


def test_case_19_eight_to_one_is_eight(user: User) -> None:
    """2 MB leave each island over an up-link of an eighth of its two NICs."""
    fabric = "{kind: leaf_spine, islands_per_leaf: 1, oversubscription: 8:1}"
    topology = user.topology(more=f"scale_out: {{nic_bandwidth: 10 GB/s, fabric: {fabric}}}")
    assert user.exchanges(topology, [[10**6] * 4] * 4)["time_s"] == pytest.approx(4e6 / (20e9 / 8))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\nname: y\n", "f.yaml:2:1: name: the same key twice, first in line 1"),
        ("\tname: x\n", "f.yaml:1:1: a tab in the indentation: use spaces"),
        ("", "f.yaml:1:1: the file is empty"),
        ("- 1\n", "f.yaml:1:1: found a list, expected a mapping of keys"),
    ],
)
def test_case_20_what_is_wrong_with_a_text_is_one_line(user: User, text: str, said: str) -> None:
    file = user.file("f.yaml", text)
    workload = user.workload(LINE)
    assert user.is_refused("validate", file) == said
    assert user.is_refused("compare", file, workload, "-p", "row_wise") == said
    assert user.is_refused("run", file) == said
    assert user.is_refused("sweep", file) == said


def test_case_20_an_unknown_key_has_its_nearest(user: User) -> None:
    said = user.is_refused("validate", user.topology(more="scale_uq: 3"))
    assert said.startswith("t.yaml:7:1: scale_uq: unknown key, allowed: ")
    assert said.endswith(", did you mean 'scale_up'?")


def test_case_20_a_mark_and_carriage_returns_change_nothing(user: User) -> None:
    plain, workload = user.topology(), user.workload(LINE)
    text = Path(plain).read_text()
    Path("odd.yaml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert user.compares("odd.yaml", workload, "row_wise") == user.compares(plain, workload, "row_wise")


@pytest.mark.parametrize(
    "text", [".nan", ".inf", "0", "-1", "-0.0", "1e400", "0 B/s", "-3 GB/s", "inf GB/s", "nan GB/s"]
)
def test_case_21_rates_that_are_none_are_refused_before_the_clock_starts(user: User, text: str) -> None:
    said = user.is_refused("all-to-all", nic(user, text), "--bytes", "1 GB")
    assert said.startswith("t.yaml:6:28: scale_out.nic_bandwidth: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("s", ["0", ".9", "1", "1.2"])
@pytest.mark.parametrize("rows", [1, 10])
def test_case_22_any_exponent_and_one_row(user: User, s: str, rows: int) -> None:
    workload = user.workload(f"rows: {rows}, dim: 4, length: 5", popularity=f"{{kind: zipf, s: {s}}}")
    for figures in user.compares(user.topology(), workload, "row_wise", "flexshard", "hybrid").values():
        assert np.isfinite(figures["communication_s"])


def test_case_22_the_first_of_ten_rows(user: User) -> None:
    """Row 0 by itself on rank 0 of ten: its planned share of the lookups."""
    user.topology(islands="[10]")
    plan = "policy: mine\nworld_size: 10\ntables:\n- table: t0\n  segments:\n  - {to: 1, tier: replicated}\n"
    user.file("p.yaml", plan + "  - {to: 10, tier: global}\n")
    for s, share in (("1", 0.3414172), ("0", 0.1)):
        workload = user.workload("rows: 10, dim: 4, length: 5", popularity=f"{{kind: zipf, s: {s}}}")
        policy = {"name": "saved_plan", "plan": simulator_plan("p.yaml")}
        tiers = simulator.compare("t.yaml", workload, [policy], iterations=1).tiers
        assert tiers["lookup_share"].iloc[0] == pytest.approx(share, abs=5e-8)


def simulator_plan(path: str) -> object:
    """The content of a plan's file."""
    import yaml

    return yaml.safe_load(Path(path).read_text())


@pytest.mark.parametrize("s", ["-1", ".nan"])
def test_case_22_what_is_no_exponent_is_refused(user: User, s: str) -> None:
    workload = user.workload(LINE, popularity=f"{{kind: zipf, s: {s}}}")
    said = user.is_refused("compare", user.topology(), workload, "-p", "row_wise")
    assert said.startswith("w.yaml:5:")
    assert "tables[0].popularity.s: " in said


def traced(user: User, trace: str, options: str, rows: int = 10) -> str:
    user.file("t.dat", trace)
    return user.workload(f"rows: {rows}, dim: 4, trace: {{path: t.dat, {options}}}")


def test_case_23_an_id_outside_the_table(user: User) -> None:
    topology = user.topology()
    workload = traced(user, "1 2\n3 10\n", "format: sessions")
    said = user.is_refused("compare", topology, workload, "-p", "row_wise")
    assert said.startswith("t.dat:2: table t0: id 10 is outside the table's 10 rows")
    for options in ("format: sessions, ids: modulo", "format: sessions, padding_id: 10"):
        found = user.compares(topology, traced(user, "1 2\n3 10\n", options), "row_wise")
        assert found["row_wise"]["communication_s"] > 0


def test_case_23_ids_beyond_63_bits_are_two_rows(user: User) -> None:
    trace = f"{2**63 + 2**61} {2**63 + 2**61 + 1}\n"
    said = user.does("profile", user.file("t.dat", trace), "--format", "sessions")
    assert ["rows", "touched", "2"] in [line.split() for line in said.splitlines()]


def test_case_24_formats_are_declared_and_held_to(user: User) -> None:
    topology = user.topology()
    said = user.is_refused("compare", topology, traced(user, "1 2\n", "ids: strict"), "-p", "row_wise")
    assert said.startswith("w.yaml:5:")
    assert "tables[0].trace.format: is missing" in said
    workload = traced(user, "1 2\n1 3\n1 2 3\n", "format: user_item")
    said = user.is_refused("compare", topology, workload, "-p", "row_wise")
    assert said == "t.dat:3: table t0: 3 columns, user_item has 2"


def test_case_24_a_pickle_is_never_opened(user: User) -> None:
    payload = "cpathlib\nPath.touch\n(cpathlib\nPath\n(S'touched'\ntRtR."
    said = user.is_refused("validate", traced(user, payload, "format: sessions"))
    assert said.startswith("t.dat:1: table t0: found 'c'")
    assert not Path("touched").exists()
