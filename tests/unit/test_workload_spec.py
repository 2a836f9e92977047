"""Workload files: what they may say, what is filled in, and one line for each mistake."""

from pathlib import Path

import pytest

from simulator.config.load import json_schema
from simulator.errors import UserError
from simulator.workload.load import load_workload
from simulator.workload.spec import WorkloadSpec
from simulator.workload.workload import Dense, RankSkew

TABLE = "name: items, rows: 1000, dim: 8, length: 5, popularity: {kind: zipf, s: 1}"
SHIPPED = sorted((Path(__file__).parents[2] / "workloads").glob("*.yaml"))


def load(folder: Path, text: str):  # type: ignore[no-untyped-def]
    (folder / "w.yaml").write_text(text, encoding="utf-8")
    return load_workload(folder / "w.yaml")


def with_table(table: str, more: str = "") -> str:
    return f"name: w\nbatch_per_rank: 4\n{more}tables:\n  - {{{table}}}\n"


def message(folder: Path, text: str) -> str:
    with pytest.raises(UserError) as error:
        load(folder, text)
    return str(error.value)


class TestDefaults:
    def test_a_short_file_says_what_is_needed_and_no_more(self, tmp_path: Path) -> None:
        workload = load(tmp_path, with_table(TABLE))
        (table,) = workload.tables
        assert (workload.name, workload.batch_per_rank, workload.element_bytes) == ("w", 4, 4)
        assert workload.dense == Dense(0.0, 0.0, 0, 4)
        assert workload.batch_of_rank == ()
        assert workload.rank_skew is None
        assert (table.name, table.rows, table.dim, table.touched_rows) == ("items", 1000, 8, 1000)
        assert (table.order, table.stream, table.repeat_share, table.replayed) == ("shuffled", "", 0.0, None)
        assert table.length.mean == 5

    def test_everything_can_be_said(self, tmp_path: Path) -> None:
        more = (
            "source: here\nembedding_dtype: bf16\n"
            "dense: {forward: 3 ms, backward: 6 ms, parameters: 5e7, gradient_dtype: fp16}\n"
            "batch_of_rank: [{rank: 1, samples: 0}]\nrank_skew: {rank: 2, share: 0.5}\n"
        )
        workload = load(
            tmp_path, with_table(f"{TABLE}, order: sorted, stream: s, repeat: 0.1, touched: 0.5", more)
        )
        assert workload.element_bytes == 2
        assert workload.dense == Dense(0.003, 0.006, 50_000_000, 2)
        assert workload.batch_of_rank == ((1, 0),)
        assert workload.rank_skew == RankSkew(2, 0.5)
        (table,) = workload.tables
        assert (table.order, table.stream, table.repeat_share, table.touched_rows) == (
            "sorted",
            "s",
            0.1,
            500,
        )

    def test_count_makes_tables_alike_with_names_of_their_own(self, tmp_path: Path) -> None:
        tables = load(tmp_path, with_table(f"{TABLE}, count: 3")).tables
        assert [table.name for table in tables] == ["items_0", "items_1", "items_2"]
        assert len({table.stream_key for table in tables}) == 3
        assert len({id(table.popularity) for table in tables}) == 1

    @pytest.mark.parametrize(
        ("rows", "touched", "touched_rows"),
        [
            ("10_000_000", 0.4, 4_000_000),
            ("3", 0.1, 1),
            ("1", 1, 1),
            (str(2**60 + 1), 1, 2**60 + 1),
            ("1e9", 0.3, 300_000_000),
        ],
    )
    def test_touched_rows_are_whole_and_at_least_one(
        self, tmp_path: Path, rows: str, touched: float, touched_rows: int
    ) -> None:
        (table,) = load(tmp_path, with_table(TABLE.replace("1000", rows) + f", touched: {touched}")).tables
        assert table.touched_rows == touched_rows


class TestPopularityKinds:
    def shares(self, folder: Path, popularity: str, more: str = "") -> list[float]:
        (table,) = load(
            folder, with_table(f"name: t, rows: 100, dim: 8, length: 5, popularity: {popularity}{more}")
        ).tables
        return [float(share) for share in table.popularity.cumulative_share([1, 2, 100])]

    def test_zipf_with_heavy_hitters_as_a_list_in_any_order(self, tmp_path: Path) -> None:
        assert self.shares(tmp_path, "{kind: zipf, s: 0, heavy_hitters: [0.2, 0.3]}") == pytest.approx(
            [0.3, 0.5, 1]
        )

    def test_zipf_with_heavy_hitters_alike(self, tmp_path: Path) -> None:
        shares = self.shares(tmp_path, "{kind: zipf, s: 0, heavy_hitters: {count: 2, share: 0.5}}")
        assert shares == pytest.approx([0.25, 0.5, 1])

    def test_uniform(self, tmp_path: Path) -> None:
        assert self.shares(tmp_path, "{kind: uniform}", ", touched: 0.5") == pytest.approx([0.02, 0.04, 1])

    def test_cumulative(self, tmp_path: Path) -> None:
        curve = "{kind: cumulative, rows: [1, 11], shares: [0.5, 1]}"
        assert self.shares(tmp_path, curve) == pytest.approx([0.5, 0.55, 1])

    def test_rank_frequency(self, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text("rank,frequency\n1,6\n2,3\n3,1\n")
        assert self.shares(tmp_path, "{kind: rank_frequency, path: f.csv}") == pytest.approx([0.6, 0.9, 1])


BROKEN = [
    (TABLE.replace("rows: 1000", "rows: 0"), "tables[0].rows: table items: rows is 0, must be at least 1"),
    (TABLE.replace("dim: 8", "dim: 0"), "tables[0].dim: table items: dim is 0, must be at least 1"),
    (TABLE.replace("rows: 1000", "rows: 1.5"), "1.5"),
    (TABLE.replace("rows: 1000", "rows: -5"), "at least 0"),
    (TABLE.replace("s: 1", "s: -0.1"), "tables[0].popularity.s"),
    (TABLE.replace("s: 1", "s: .nan"), "tables[0].popularity.s"),
    (TABLE.replace("s: 1", "s: 1, q: -1"), "tables[0].popularity.q"),
    (TABLE.replace("kind: zipf", "kind: zipff"), "zipf"),
    (TABLE + ", touchd: 0.5", "touched"),
    (TABLE + ", touched: 0", "tables[0].touched"),
    (TABLE + ", touched: 1.5", "tables[0].touched"),
    (TABLE + ", repeat: 2", "tables[0].repeat"),
    (TABLE + ", drift: -1", "tables[0].drift"),
    (TABLE.replace("length: 5", "length: -5"), "tables[0].length"),
    (TABLE.replace("length: 5, ", ""), "table items: length is missing, only a trace brings its own"),
    (TABLE.replace(", popularity: {kind: zipf, s: 1}", ""), "table items: give either popularity or trace"),
    (TABLE + ", trace: {path: t, format: sessions}", "table items: give either popularity or trace"),
    (TABLE.replace("s: 1}", "s: 1, heavy_hitters: [0.6, 0.5]}"), "shares add up to 1.1, allowed is below 1"),
    (
        TABLE.replace("s: 1}", "s: 1, heavy_hitters: {count: 1000, share: 0.5}}"),
        "1000 heavy hitters, the touched rows are 1000",
    ),
    (TABLE.replace("length: 5", "length: {kind: histogram, lengths: [], weights: []}"), "all are 0"),
    (TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [], shares: []}"), "there is no point"),
    (TABLE + ", planning: {}", "give either trace or popularity"),
    (
        TABLE + ", planning: {trace: {path: t, format: sessions}}",
        "plan a trace from a trace, a law from a law",
    ),
    (TABLE + ", drift: 0.1, planning: {popularity: {kind: uniform}}", "planning already says what drifted"),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [1, 2], shares: [0.3, 1]}"),
        "must ascend, and ever more slowly: hotter rows come first",
    ),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [2, 1], shares: [0.3, 1]}"),
        "must ascend",
    ),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [1, 2], shares: [0.6, 0.9]}"),
        "it must be 1",
    ),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [1, 2], shares: [1]}"),
        "1 shares for 2 numbers",
    ),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [1, 2000], shares: [0.6, 1]}"),
        "2000 touched rows, the table has 1000",
    ),
    (
        TABLE.replace("{kind: zipf, s: 1}", "{kind: cumulative, rows: [1], shares: [1]}") + ", touched: 0.5",
        "table items: the data says which rows are touched",
    ),
    (
        TABLE.replace("length: 5", "length: {kind: lognormal, mean: 5, sigma: 1, max: 5}"),
        "5 is not between min 1 and max 5",
    ),
    (
        TABLE.replace("length: 5", "length: {kind: lognormal, mean: 5, sigma: 0, max: 9}"),
        "tables[0].length.sigma",
    ),
    (TABLE.replace("length: 5", "length: {kind: lognormal, mean: 5, sigma: 1}"), "tables[0].length.max"),
    (
        TABLE.replace("length: 5", "length: {kind: lognormal, mean: 5, sigma: 1, max: 1e9}"),
        "tables[0].length.max",
    ),
    (
        TABLE.replace("length: 5", "length: {kind: histogram, lengths: [1, 2], weights: [1]}"),
        "1 weights for 2 lengths",
    ),
    (TABLE.replace("length: 5", "length: {kind: histogram, lengths: [1], weights: [0]}"), "all are 0"),
    (TABLE + "}\n  - {" + TABLE, "'items' stands twice, names must differ"),
    (TABLE + ", count: 2}\n  - {" + TABLE.replace("items", "items_1"), "'items_1' stands twice"),
    (
        TABLE + ", stream: s}\n  - {" + TABLE.replace("items", "b").replace("1000", "999") + ", stream: s",
        "tables of stream 's' must be alike in all but name, count and dim",
    ),
]


@pytest.mark.parametrize(("table", "expected"), BROKEN)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, table: str, expected: str) -> None:
    text = message(tmp_path, with_table(table))
    assert expected in text
    assert text.startswith(f"{tmp_path / 'w.yaml'}:")
    assert "Traceback" not in text


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = message(tmp_path, with_table(TABLE.replace("rows: 1000", "rows: 0").replace("dim: 8", "dim: 0")))
    assert len(text.splitlines()) == 2


def test_a_file_without_tables_is_refused(tmp_path: Path) -> None:
    assert "at least one table" in message(tmp_path, "name: w\nbatch_per_rank: 1\ntables: []\n")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            "batch_of_rank: [{rank: 1, samples: 2}, {rank: 1, samples: 3}]\n",
            "batch_of_rank: a rank stands twice",
        ),
        ("batch_of_rank: [{rank: 1, samples: 1e10}]\n", "batch_of_rank[0].samples: "),
        ("rank_skew: {rank: -1}\n", "rank_skew.rank: "),
        ("rank_skew: {share: 1.5}\n", "rank_skew.share: "),
        ("embedding_dtype: fp12\n", "embedding_dtype: "),
        ("dense: {forward: 3}\n", "dense.forward: "),
    ],
)
def test_a_mistake_beside_the_tables_is_named_too(tmp_path: Path, more: str, expected: str) -> None:
    assert expected in message(tmp_path, with_table(TABLE, more))


def test_a_planned_curve_must_fit_into_the_table(tmp_path: Path) -> None:
    planning = "planning: {popularity: {kind: cumulative, rows: [1, 2000], shares: [0.6, 1]}}"
    text = message(tmp_path, with_table(f"{TABLE}, {planning}"))
    assert "tables[0].planning.popularity.rows: table items: 2000 touched rows, the table has 1000" in text


def test_editors_are_told_that_a_bare_length_and_drift_will_do() -> None:
    table = json_schema(WorkloadSpec)["$defs"]["TableSpec"]["properties"]
    assert {"type": "integer"} in table["length"]["anyOf"]
    assert {"type": "number"} in table["drift"]["anyOf"]


def test_tables_of_one_stream_may_differ_in_name_and_dim(tmp_path: Path) -> None:
    both = (
        f"{TABLE}, stream: s}}\n  - {{{TABLE.replace('items', 'b').replace('dim: 8', 'dim: 16')}, stream: s"
    )
    tables = load(tmp_path, with_table(both)).tables
    assert tables[0].stream_key == tables[1].stream_key


def test_paths_are_relative_to_the_file_and_stay_out_of_results(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.dat").write_text("1 2 3\n")
    configurations = []
    for path in ("sub/t.dat", str(tmp_path / "sub" / "t.dat")):
        table = f"name: t, rows: 10, dim: 4, trace: {{path: {path}, format: sessions}}"
        configurations.append(load(tmp_path, with_table(table)).configuration())
    assert configurations[0] == configurations[1]
    assert str(tmp_path) not in str(configurations)


class TestShippedFiles:
    @pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
    def test_each_loads_says_its_sources_and_draws(self, path: Path) -> None:
        workload = load_workload(path)
        assert workload.name == path.stem
        assert workload.spec is not None
        assert workload.spec.source
        batch = workload.draw_batch(16, seed=1, iteration=0)
        assert (batch.lookups.sum(axis=1) > 0).all()

    def test_none_is_missing(self) -> None:
        shipped = "headline_4 headline_40 hstu_like production_like review_like sequence_dlrm tiny uniform"
        assert [path.stem for path in SHIPPED if path.stem in shipped.split()] == shipped.split()

    @pytest.mark.parametrize(
        ("name", "tables", "rows", "lookups"),
        [("headline_4", 4, 10**7, 256_000), ("headline_40", 40, 10**6, 25_600)],
    )
    def test_the_headline_is_exactly_as_stated(self, name: str, tables: int, rows: int, lookups: int) -> None:
        workload = load_workload(next(path for path in SHIPPED if path.stem == name))
        assert len(workload.tables) == tables
        assert {(table.rows, table.dim, table.touched_rows) for table in workload.tables} == {
            (rows, 128, rows * 4 // 10)
        }
        assert workload.element_bytes == 2
        assert (workload.draw_batch(3, seed=5, iteration=1).lookups == lookups).all()

    def test_production_like_has_the_published_skew(self) -> None:
        """.30/.47/.70 of the lookups on the hottest 0.1/1/10 % of each table's touched rows."""
        tables = load_workload(next(path for path in SHIPPED if path.stem == "production_like")).tables
        weights = [table.length.mean for table in tables]
        for part, share in ((0.001, 0.30), (0.01, 0.47), (0.1, 0.70)):
            shares = [
                float(table.popularity.cumulative_share(int(part * table.touched_rows))) for table in tables
            ]
            pooled = sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)
            assert pooled == pytest.approx(share, abs=0.02)
