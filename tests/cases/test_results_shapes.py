"""Practitioners' cases 1 to 7, shapes of cluster and model, as a user meets them."""

import pytest
from as_user import User

import simulator
from simulator.errors import UserError

POLICIES = (
    "row_wise",
    "table_wise",
    "table_row_wise",
    "data_parallel",
    "two_dimensional",
    "hybrid",
    "flexshard",
)


@pytest.mark.parametrize(
    ("rows", "islands", "expected"),
    [
        (10, "[2, 2]", [3, 3, 3, 1]),
        (5, "[2, 2]", [2, 2, 1, 0]),
        (1, "[4, 4]", [1, 0, 0, 0, 0, 0, 0, 0]),
        (2**60 + 1, "[2, 2]", [2**58 + 1, 2**58 + 1, 2**58 + 1, 2**58 - 2]),
    ],
)
def test_case_01_rows_that_do_not_divide(user: User, rows: int, islands: str, expected: list[int]) -> None:
    """Rows of one 2-byte number each: a rank's bytes are twice its rows, to the last row beyond 2^53."""
    topology = user.topology(islands=islands, more="gpu: {hbm_capacity: 1e18 B, hbm_bandwidth: 3 TB/s}")
    workload = user.workload(f"rows: {rows}, dim: 1, length: 2", dtype="fp16")
    made = simulator.plan(topology, workload, "row_wise")
    assert made.memory.total_bytes.tolist() == [2 * each for each in expected]
    figures = user.compares(topology, workload, "row_wise")["row_wise"]
    assert figures["memory_bytes_per_rank_max"] == 2 * expected[0]
    assert figures["communication_s"] > 0  # owners of nothing take part


def test_case_02_a_table_of_nothing_is_named(user: User) -> None:
    topology = user.topology()
    workload = user.workload("rows: 9, dim: 9, length: 1", "rows: 0, dim: 4, length: 1")
    said = user.is_refused("compare", topology, workload, "-p", "row_wise")
    assert said == "w.yaml:6:22: tables[1].rows: table t1: rows is 0, must be at least 1"
    workload = user.workload("rows: 9, dim: 9, length: 1", "rows: 9, dim: 0, length: 1")
    said = user.is_refused("compare", topology, workload, "-p", "row_wise")
    assert said == "w.yaml:6:30: tables[1].dim: table t1: dim is 0, must be at least 1"


def test_case_02_a_dimension_that_divides_nothing(user: User) -> None:
    """Rank 0 owns the table, rank 1 looks up 1,000 rows of 10 x 2 B; rank 0 looks up its own."""
    topology = user.topology(islands="[1, 1]")
    workload = user.workload("rows: 50, dim: 10, length: 1", batch=1000, dtype="fp16")
    found = simulator.simulate(topology, workload, "table_wise").phases.set_index("phase")["bytes"]
    assert found["embeddings_global"] == 20_000
    assert found["gradients_global"] == 20_000


def test_case_03_billions_of_rows(user: User) -> None:
    topology = user.topology(size=8)
    workload = user.workload("rows: 1.6e9, dim: 16, length: 5")
    found = user.compares(topology, workload, "row_wise")["row_wise"]
    assert found["memory_bytes_per_rank_max"] == 6_400_000_000
    runs = simulator.plan(topology, workload, "row_wise").runs
    assert runs["stop"].max() == 1_600_000_000


def test_case_04_a_world_size_that_contradicts_names_both(user: User) -> None:
    workload = user.workload("rows: 9, dim: 4, length: 1")
    said = user.is_refused("compare", user.topology(more="world_size: 5"), workload, "-p", "row_wise")
    assert said == "t.yaml:7:13: world_size: is 5, but 2 islands of 2 are 4 ranks"
    assert "4 ranks" in user.does("validate", user.topology(more="world_size: 4"))
    assert "12 ranks in 2 islands" in user.does("validate", user.topology(islands="[8, 4]"))


def test_case_04_bytes_follow_the_islands_of_unequal_size(user: User) -> None:
    """1 MB a pair: 8 x 7 + 4 x 3 pairs inside islands, 2 x 8 x 4 between them. Of the four NICs of the small island
    each sends 8 MB at 10 GB/s: 0.8 ms."""
    found = user.exchanges(user.topology(islands="[8, 4]"), [[10**6] * 12] * 12)
    assert found["bottleneck"].startswith("nic/")
    assert found["time_s"] == pytest.approx(0.8e-3)
    assert found["flows"] == 12 * 11


@pytest.mark.parametrize("islands", ["[3]", "[5]", "[7]", "[12]", "[3, 5]", "[7, 1, 4]"])
def test_case_04_odd_sizes_work(user: User, islands: str) -> None:
    workload = user.workload("rows: 100, dim: 4, length: 3", popularity="{kind: zipf, s: 1.2}")
    for figures in user.compares(user.topology(islands=islands), workload, *POLICIES).values():
        assert (figures["inter_island_bytes"] > 0) == ("," in islands)


def test_case_05_one_gpu(user: User) -> None:
    workload = user.workload("rows: 100, dim: 4, length: 3")
    printed = user.does(
        "compare", user.topology(islands="1", size=1), workload, "-p", "row_wise", "-p", "flexshard"
    )
    assert "n/a" in printed
    assert "nan" not in printed.lower().replace("n/a", "")
    found = user.compares("t.yaml", workload, "row_wise", "flexshard")
    for figures in found.values():
        assert figures["inter_island_bytes"] == figures["intra_island_bytes"] == 0
        assert figures["communication_s"] == 0
        assert figures["communication_speedup"] is figures["all_to_all_reduction"] is None


@pytest.mark.parametrize("engine", ["fluid", "bound"])
def test_case_05_one_island(user: User, engine: str) -> None:
    workload = user.workload("rows: 100, dim: 4, length: 3", popularity="{kind: zipf, s: 1.2}")
    found = user.compares(user.topology(islands="1", size=4), workload, *POLICIES, more=("--engine", engine))
    assert [figures["inter_island_bytes"] for figures in found.values()] == [0] * len(POLICIES)
    assert found["row_wise"]["intra_island_bytes"] > 0


PLAN = "policy: mine\nworld_size: 4\ntables:\n- table: t0\n  segments:\n  - {to: 100, tier: global}\n"


def test_case_06_a_plan_with_a_gap_is_told_where(user: User) -> None:
    topology = user.topology()
    workload = user.workload("rows: 100, dim: 4, length: 3", "rows: 50, dim: 4, length: 3")
    user.file("p.yaml", PLAN)
    said = user.is_refused("compare", topology, workload, "--plan", "p.yaml")
    assert said == "plan 'mine': table t1 is missing"
    user.file("p.yaml", PLAN.replace("100", "99") + "- table: t1\n  segments:\n  - {to: 50, tier: island}\n")
    said = user.is_refused("compare", topology, workload, "--plan", "p.yaml")
    assert said == "plan 'mine': table t0: rows [99, 100) are looked up and have no owner"


@pytest.mark.parametrize("policy", POLICIES)
def test_case_06_every_lookup_has_its_place(user: User, policy: str) -> None:
    """4 ranks x 10 samples x 3 lookups, whatever the tiers; shards cover all rows."""
    workload = user.workload("rows: 100, dim: 4, length: 3", popularity="{kind: zipf, s: 1.2}")
    found = simulator.simulate(user.topology(), workload, policy)
    counted = found.iterations.filter(like="lookups_").iloc[0]
    assert counted.sum() == 120
    tiers = simulator.plan("t.yaml", workload, policy).runs
    assert tiers["start"].iloc[0] == 0
    assert tiers["start"].iloc[1:].tolist() == tiers["stop"].iloc[:-1].tolist()
    assert tiers["lookup_share"].sum() == pytest.approx(1)


def test_case_07_what_does_not_fit_is_refused_with_numbers_by_every_verb(user: User) -> None:
    topology = user.topology(islands="1", more="gpu: {hbm_capacity: 1 GB, hbm_bandwidth: 3 TB/s}")
    workload = user.workload("rows: 100_000_000, dim: 16, length: 1")
    text = "plan row_wise: does not fit: needed 3.2 GB a rank, available 1 GB, short by 2.2 GB"
    assert user.is_refused("plan", topology, workload, "-p", "row_wise") == text
    assert user.is_refused("compare", topology, workload, "-p", "row_wise") == text
    common = f"name: e\ntopology: {topology}\nworkload: {workload}\npolicies: [row_wise]\n"
    experiment = user.file("e.yaml", common)
    assert user.is_refused("run", experiment) == text
    assert user.is_refused("validate", experiment) == f"e.yaml: {text}"
    with pytest.raises(UserError, match=r"short by 2\.2 GB"):
        simulator.compare(topology, workload, ["row_wise"])


def test_case_07_a_budget_of_nothing_is_row_wise(user: User) -> None:
    workload = user.workload("rows: 10_000, dim: 8, length: 20", popularity="{kind: zipf, s: 1.2}")
    found = user.compares(user.topology(), workload, "row_wise", "{name: flexshard, budget: 0 %}")
    one, two = found.values()
    for key, value in one.items():
        if key not in ("policy", "notes"):
            assert two[key] == value, key
