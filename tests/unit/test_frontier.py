"""Memory against latency by setting, price lists, and the cheapest cluster that is quick enough."""

import json

import pytest

from simulator.errors import UserError
from simulator.sweeps.csv_file import write_rows
from simulator.sweeps.frontier import read_results, settings_of
from simulator.sweeps.frontier_plot import plot_frontier
from simulator.sweeps.frontier_text import frontier_text, offers_text
from simulator.sweeps.prices import PricesSpec, cheapest, load_prices, offers_of, same, unpriced
from simulator.sweeps.rows import columns

NIC, BATCH = "topology.scale_out.nic_bandwidth", "workload.batch_per_rank"
SCALE = "policies.flexshard.memory_scale"


def row(policy: str, latency_ms: float, memory_mb: float, engine: str = "bound", **values: str):
    return {
        "policy": policy,
        "topology": "h100",
        "workload": "dlrm",
        "world_size": "128",
        "engine": engine,
        "seed": "0",
        "communication_s": str(latency_ms / 1000),
        "iteration_s": "1",
        "memory_bytes_per_rank_max": str(int(memory_mb * 1e6)),
        "key": f"{policy} {latency_ms} {engine} {values}",
        **values,
    }


def two_policies(nic: str, row_wise_ms: float, flexshard_ms: float, **values: str):
    return [
        row("row_wise", row_wise_ms, 80, **{NIC: nic, **values}),
        row("flexshard", flexshard_ms, 80, **{NIC: nic, SCALE: "1", **values}),
        row("flexshard", flexshard_ms + 1, 60, **{NIC: nic, SCALE: "0.75", **values}),
    ]


ROWS = [*two_policies("100 Gbit/s", 30, 8), *two_policies("400 Gbit/s", 9, 4)]


class TestSettings:
    def test_policies_compete_inside_a_setting(self):
        settings = settings_of(ROWS)
        assert [setting.name for setting in settings] == [
            "nic_bandwidth=100 Gbit/s",
            "nic_bandwidth=400 Gbit/s",
        ]
        slow = settings[0]
        assert [(each.policy, each.variant, each.on_front) for each in slow.candidates] == [
            ("flexshard", "memory_scale=0.75", True),
            ("flexshard", "memory_scale=1", True),
            ("row_wise", "", False),
        ]
        assert slow.best.latency_s == 0.008

    def test_one_engine_is_compared_by_default_that_of_most_points(self):
        rows = [row("row_wise", 1, 1), row("row_wise", 2, 1, engine="fluid")]
        (setting,) = settings_of(rows)
        assert [each.latency_s for each in setting.candidates] == [0.002]
        (setting,) = settings_of([*rows, row("flexshard", 3, 1)])
        assert [each.latency_s for each in setting.candidates] == [0.001, 0.003]
        (setting,) = settings_of([*rows, row("flexshard", 3, 1)], engine="fluid")
        assert [each.latency_s for each in setting.candidates] == [0.002]
        with pytest.raises(UserError, match="no point has an answer of the fluid engine"):
            settings_of(rows[:1], engine="fluid")

    def test_another_latency(self):
        (setting,) = settings_of([row("row_wise", 1, 1)], by="iteration_s")
        assert setting.best.latency_s == 1.0

    def test_points_that_failed_are_left_out(self):
        failed = {**row("row_wise", 1, 1), "error": "boom"}
        (setting,) = settings_of([failed, row("flexshard", 1, 1)])
        assert [each.policy for each in setting.candidates] == ["flexshard"]
        with pytest.raises(UserError, match="no point has an answer"):
            settings_of([failed])

    def test_of_equals_the_one_with_less_memory_is_best(self):
        (setting,) = settings_of([row("a", 1, 3), row("b", 1, 2)])
        assert setting.best.policy == "b"
        assert [each.on_front for each in setting.candidates] == [True, False]

    def test_several_topologies_are_named(self):
        rows = [row("row_wise", 1, 1), {**row("row_wise", 2, 1), "topology": "a100"}]
        assert [setting.name for setting in settings_of(rows)] == ["h100", "a100"]


class TestReading:
    def test_a_csv_and_its_folder(self, tmp_path):
        write_rows(tmp_path / "sweep.csv", columns([NIC, SCALE]), ROWS)
        assert read_results(tmp_path) == read_results(tmp_path / "sweep.csv") == ROWS

    def test_a_run_that_is_damaged(self, tmp_path):
        (tmp_path / "summary.json").write_text("{}")
        with pytest.raises(UserError, match="is no finished run"):
            read_results(tmp_path)
        (tmp_path / "manifest.json").write_text(json.dumps({"topology": {"name": "t"}}))
        with pytest.raises(UserError, match=r"is no finished run \(KeyError: 'workload'\)"):
            read_results(tmp_path)


def prices(*entries: tuple[dict[str, object], float]) -> PricesSpec:
    return PricesSpec.model_validate(
        {"unit": "USD", "prices": [{"where": where, "price": price} for where, price in entries]}
    )


LIST = prices(({NIC: "50 GB/s"}, 500), ({"topology": "h100"}, 300))


class TestPrices:
    def test_the_first_entry_that_fits_is_the_price(self):
        offers = offers_of(settings_of(ROWS), LIST)
        assert [(offer.cluster[NIC], offer.price) for offer in offers] == [
            ("100 Gbit/s", 300),
            ("400 Gbit/s", 500),
        ]

    def test_clusters_without_a_price_are_left_out(self):
        offers = offers_of(settings_of(ROWS), prices(({NIC: "100 Gbit/s"}, 1)))
        assert len(offers) == 1
        with pytest.raises(UserError, match="no entry fits"):
            offers_of(settings_of(ROWS), prices(({NIC: "1 Gbit/s"}, 1)))

    def test_clusters_without_a_price_are_named(self):
        listed = prices(({NIC: "400 Gbit/s"}, 1))
        offers, left_out = offers_of(settings_of(ROWS), listed), unpriced(settings_of(ROWS), listed)
        text = offers_text(offers, "", 0.01, unpriced=left_out, width=80)
        assert "1 cluster has no price: nic_bandwidth=100 Gbit/s.\n" in text
        assert "Cheapest within 10.0 ms: nic_bandwidth=400 Gbit/s with flexshard" in text
        assert "no price" not in offers_text(offers_of(settings_of(ROWS), LIST), "", None, width=80)

    def test_a_column_that_is_none_has_its_place_in_the_file(self, tmp_path):
        path = tmp_path / "prices.yaml"
        path.write_text(
            "prices:\n  - {where: {topology: h100}, price: 1}\n  - {where: {world: 8, nic: 1}, price: 1}\n"
        )
        with pytest.raises(UserError) as error:
            offers_of(settings_of(ROWS), load_prices(path), path)
        first, second = str(error.value).splitlines()
        assert first.startswith(f"{path}:3:14: prices[1].where.world: unknown column 'world'")
        assert second.startswith(f"{path}:3:24: prices[1].where.nic: unknown column 'nic'")

    def test_a_column_that_is_none(self):
        with pytest.raises(UserError, match="unknown column 'topolgy'; allowed: topology, world_size"):
            offers_of(settings_of(ROWS), prices(({"topolgy": "h100"}, 1)))

    def test_a_price_of_everything(self):
        assert [offer.price for offer in offers_of(settings_of(ROWS), prices(({}, 7)))] == [7, 7]

    @pytest.mark.parametrize(
        ("target_ms", "policy", "found"),
        [
            (10, None, 300),
            (5, None, 500),
            (3, None, None),
            (10, "row_wise", 500),
            (30, "row_wise", 300),
            (8, "flexshard", 300),
            (8, "absent", None),
        ],
    )
    def test_the_cheapest_within_a_target(self, target_ms, policy, found):
        best = cheapest(offers_of(settings_of(ROWS), LIST), target_ms / 1000, policy)
        assert (best and best.price) == found

    def test_of_equal_prices_the_quickest(self):
        best = cheapest(offers_of(settings_of(ROWS), prices(({}, 7))), 1.0)
        assert best is not None
        assert best.cluster[NIC] == "400 Gbit/s"

    def test_every_workload_of_a_cluster_must_be_within_it(self):
        rows = [
            *two_policies("100 Gbit/s", 30, 8, **{BATCH: "256"}),
            *two_policies("100 Gbit/s", 60, 16, **{BATCH: "512"}),
            *two_policies("400 Gbit/s", 9, 4, **{BATCH: "256"}),
            *two_policies("400 Gbit/s", 18, 9, **{BATCH: "512"}),
        ]
        offers = offers_of(settings_of(rows), LIST)
        assert [offer.latency_s for offer in offers] == [
            {"row_wise": 0.06, "flexshard": 0.016},
            {"row_wise": 0.018, "flexshard": 0.009},
        ]
        best = cheapest(offers, 0.010)
        assert best is not None
        assert best.price == 500

    def test_a_policy_that_a_workload_lacks_is_no_answer(self):
        rows = [
            row("a", 1, 1, **{BATCH: "1"}),
            row("b", 1, 1, **{BATCH: "1"}),
            row("b", 2, 1, **{BATCH: "2"}),
        ]
        (offer,) = offers_of(settings_of(rows), prices(({}, 7)))
        assert offer.latency_s == {"b": 0.002}
        assert offer.best("a") is None

    @pytest.mark.parametrize(
        ("one", "other", "alike"),
        [
            ("50 GB/s", "400 Gbit/s", True),
            ("1 us", "1000 ns", True),
            ("8", "8.0", True),
            ("h100", "h100", True),
            ("h100", "a100", False),
            ("50 GB/s", "50 Gbit/s", False),
            ("8", "h100", False),
        ],
    )
    def test_values_are_compared_by_what_they_mean(self, one, other, alike):
        assert same(one, other) is alike

    def test_a_list_is_checked(self, tmp_path):
        path = tmp_path / "prices.yaml"
        path.write_text("prices:\n  - {where: {}, price: -1}\n  - {were: {}, price: 1}\n")
        with pytest.raises(UserError) as error:
            load_prices(path)
        assert "prices.yaml:2" in str(error.value)
        assert "prices.yaml:3" in str(error.value)


class TestText:
    def test_few_settings_are_shown_one_by_one(self):
        text = frontier_text(settings_of(ROWS), width=80)
        assert max(map(len, text.splitlines())) <= 80
        assert "nic_bandwidth=100 Gbit/s\n" in text
        lines = [line.split() for line in text.splitlines()]
        assert ["flexshard", "memory_scale=0.75", "60.0", "MB", "9.00", "ms", "*"] in lines
        assert ["row_wise", "80.0", "MB", "30.00", "ms"] in lines

    def test_many_are_counted(self):
        rows = [each for rate in range(1, 8) for each in two_policies(f"{rate} Gbit/s", 30, 8)]
        lines = [line.split() for line in frontier_text(settings_of(rows), width=80).splitlines()]
        assert ["flexshard", "7", "7", "7"] in lines
        assert ["row_wise", "0", "0", "7"] in lines

    def test_of_many_the_points_on_the_fronts_are_listed(self):
        rows = [each for rate in range(1, 8) for each in two_policies(f"{rate} Gbit/s", 30, 8)]
        text = frontier_text(settings_of(rows), width=80)
        assert max(map(len, text.splitlines())) <= 80
        flat = " ".join(text.split())
        assert "nic_bandwidth=7 Gbit/s flexshard, memory_scale=0.75 60.0 MB 9.00 ms" in flat
        assert "row_wise, " not in flat
        assert "--json" not in flat
        many = [each for rate in range(1, 14) for each in two_policies(f"{rate} Gbit/s", 30, 8)]
        assert "... and 6 more; --json FILE has all points." in frontier_text(settings_of(many), width=80)

    def test_offers_and_answers(self):
        text = offers_text(offers_of(settings_of(ROWS), LIST), "USD", 0.010, width=80)
        assert max(map(len, text.splitlines())) <= 80
        flat = " ".join(text.split())
        assert "nic_bandwidth=100 Gbit/s flexshard 300 8.00 ms meets" in flat
        assert "Cheapest within 10.0 ms: nic_bandwidth=100 Gbit/s with flexshard, 300 USD, 8.00 ms." in flat
        assert "Cheapest within 10.0 ms with row_wise: nic_bandwidth=400 Gbit/s, 500 USD, 9.00 ms." in flat
        assert "None of 2 is within 1.00 ms" in offers_text(
            offers_of(settings_of(ROWS), LIST), "USD", 0.001, width=80
        )

    def test_without_a_target_there_is_no_answer(self):
        text = offers_text(offers_of(settings_of(ROWS), LIST), "", None, width=80)
        assert "Cheapest" not in text
        assert "meets" not in text


def test_the_plot_is_drawn(tmp_path):
    plot_frontier(settings_of(ROWS), tmp_path / "f", by="communication_s")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "f.svg").read_text()
    plot_frontier(settings_of(ROWS), tmp_path / "g", by="communication_s")
    assert (tmp_path / "g.svg").read_text() == svg
