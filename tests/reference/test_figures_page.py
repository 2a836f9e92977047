"""docs/paper.md says what the committed data say: its tables line by line, and the numbers in its text."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simulator.figures.catalogue import FIGURES
from simulator.figures.make import read_frame
from simulator.figures.paper import drift, latency, memory, opponents, rows, topology, traffic, where

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
FLAT = " ".join(PAGE.split())
PROTOTYPE = {1.0: (3.1, 3.3), 1.05: (3.8, 4.1), 1.1: (4.8, 5.2), 1.15: (6.2, 6.7), 1.2: (8.1, 8.8)}


def frame(name: str) -> pd.DataFrame:
    return read_frame(ROOT / "experiments/figures" / f"{name}.csv")


def with_range(gains: np.ndarray) -> str:
    return f"{gains.mean():.1f} ({gains.min():.1f} to {gains.max():.1f})"


def claim_line(topology: str, workload: str, s: float) -> str:
    """One line of a table of the claim."""
    own = frame("claim").query("topology == @topology and workload == @workload and s == @s")
    moved = own.groupby("policy")["global_all_to_all_bytes"].mean()
    base = own[own["policy"] == "row-wise"]
    cells = [f"{s:.2f}", f"{100 * (1 - moved['FlexShard'] / moved['row-wise']):.1f} %"]
    for policy in ("FlexShard", "FlexShard, concurrent"):
        cells.append(f"{latency.speedups(own, policy, 'predicted_s').mean():.1f}")
    if (topology, workload) == ("ideal_16x8", "headline_4"):
        cells[2:4] = [f"{cell} ({PROTOTYPE[s][side]:.1f})" for side, cell in enumerate(cells[2:4])]
    cells.append(f"{base['imbalance'].mean():.2f}")
    cells += [with_range(latency.speedups(own, policy)) for policy in ("FlexShard", "FlexShard, concurrent")]
    cells.append(f"{latency.speedups(own, 'FlexShard', 'communication_without_sync_s').mean():.1f}")
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("s", PROTOTYPE)
@pytest.mark.parametrize("workload", latency.WORKLOADS)
@pytest.mark.parametrize("topology", latency.CLUSTERS)
def test_the_tables_of_the_claim_are_the_data(topology: str, workload: str, s: float) -> None:
    assert claim_line(topology, workload, s) in PAGE.splitlines()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_has_its_section_and_its_picture(figure) -> None:
    section = PAGE.partition(f"## {figure.number}. ")[2].partition("\n## ")[0]
    assert f"(images/paper_{figure.name}.png)" in section
    for part in ("**Claim.**", "**Setup.**", "**What holds.**", "**What has to be true.**"):
        assert part in section
    for dataset in figure.datasets:
        assert f"experiments/figures/{dataset.name}.yaml" in section


def test_it_says_whose_figures_these_are() -> None:
    assert "only its abstract is public" in FLAT
    assert "our figures" in FLAT


def changes(workload: str, column: str = "global_all_to_all_bytes") -> dict[str, float]:
    return {bar.policy: -100 * bar.change for bar in traffic.bars(frame("traffic"), workload, column)}


def test_the_numbers_of_the_headline() -> None:
    forty, four = changes("headline_40"), changes("headline_4")
    assert (
        f"On forty of 1e6 at s = 1.15 it is {forty['FlexShard']:.1f} %, or {forty['FlexShard, concurrent']:.1f} %"
        in FLAT
    )
    assert f"On four tables the cut is {four['FlexShard']:.1f} %, on forty {forty['FlexShard']:.1f} %" in FLAT
    nics = [
        changes(workload, "inter_island_bytes")["FlexShard"] for workload in ("headline_4", "headline_40")
    ]
    assert f"all bytes on NICs fall by {nics[0]:.1f} % and {nics[1]:.1f} %" in FLAT
    assert f"Row-wise with dedup by island is at {forty['row-wise, dedup by island']:.1f} % on forty" in FLAT
    assert f"2D groups put {-changes('headline_40', 'inter_island_bytes')['2D']:.0f} % more there" in FLAT


def test_the_numbers_of_latency() -> None:
    own = frame("latency")
    ways = (
        ("ideal_16x8", "FlexShard"),
        ("zionex_16x8", "FlexShard"),
        ("zionex_16x8", "FlexShard, concurrent"),
    )
    all_in, without = (
        [latency.speedups(own, policy, column, topology=cluster).mean() for cluster, policy in ways]
        for column in ("communication_s", "communication_without_sync_s")
    )
    claim = frame("claim").query("workload == 'headline_40' and s == 1.15")
    alone = [
        latency.speedups(claim, policy, "predicted_s", topology=cluster).mean() for cluster, policy in ways
    ]
    assert (
        f"{all_in[0]:.1f}x on ports alone, {all_in[1]:.1f}x calibrated, "
        f"{all_in[2]:.1f}x calibrated with tiers at once; "
        f"without synchronisation {without[0]:.1f}x, {without[1]:.1f}x and {without[2]:.1f}x" in FLAT
    )
    assert f"By less traffic alone it is {alone[0]:.1f}x, {alone[1]:.1f}x and {alone[2]:.1f}x" in FLAT
    assert f"{alone[0]:.1f} times {all_in[0] / alone[0]:.1f}." in FLAT


def test_the_numbers_of_rows_and_memory() -> None:
    half = {name: 100 * rows.half_at(frame("rows"), name) for name in (*rows.MEASURED, *rows.SHIPPED)}
    news = sorted(half[name] for name in ("kosarak", "histograms_2021", "histograms_2022"))
    assert f"Half of the lookups fall on {news[0]:.1f} to {news[-1]:.1f} % of the touched rows" in FLAT
    assert f"on {half['beauty']:.1f} % in reviews, on {half['wikipedia']:.0f} % in Wikipedia" in FLAT
    assert f"half of its lookups fall on {half['headline_40']:.3f} % of the rows" in FLAT
    own = frame("memory")
    held = {policy: sum(memory.held_mb(own, 0.4, policy).values()) for policy in own["policy"].unique()}
    assert f"{held['FlexShard']:.0f} MB against {held['row-wise']:.0f} MB" in FLAT
    assert f"{held['FlexShard, within HBM']:.0f} MB of a GPU's 40 GB" in FLAT
    gains = [memory.speedup(own, 1.0, policy) for policy in ("FlexShard, 5 % more", "FlexShard, within HBM")]
    assert f"brings {gains[0]:.1f}x of the {gains[1]:.1f}x that any amount would" in FLAT


def test_the_numbers_of_the_maps() -> None:
    own = frame("where_lookups")
    skews = np.unique(own["s"])
    cut, gain, alone = (where.gain_map(own, "length", what) for what in ("cut", "speedup", "balanced"))
    needed = [np.interp(at, found[-1], skews) for at, found in ((0.85, cut), (6, gain), (6, alone))]
    assert (
        f"85 % need s of {needed[0]:.2f} and 6x need {needed[1]:.2f}, or {needed[2]:.2f} by less traffic alone"
        in FLAT
    )
    production = np.searchsorted(skews, where.PRODUCTION_S)
    assert (
        f"a cut of {100 * cut[0, production]:.0f} to {100 * cut[-1, production]:.0f} % and "
        f"{gain[0, production]:.1f}x to {gain[-1, production]:.1f}x" in FLAT
    )
    headline = list(dict.fromkeys(own["length"])).index(50)
    assert (
        f"there forty tables give {100 * cut[headline, production]:.1f} % and {gain[headline, production]:.1f}x"
        in FLAT
    )
    budget = where.gain_map(frame("where_memory"), "budget", "speedup")
    levels = frame("where_memory")["budget"].dropna().unique().tolist()
    share = budget[levels.index("10 %")] / budget[-1]
    assert share[skews >= 0.9].min() > 0.85
    assert share[skews >= 0.9].max() < 0.96


def test_the_numbers_of_opponents() -> None:
    own = frame("opponents")
    lead = 100 * (opponents.lead(own, dedup=False) - 1)
    assert f"Without dedup FlexShard is {lead.min():.0f} to {lead.max():.0f} % faster than `hybrid`" in FLAT
    assert f"by {lead.min():.0f} to {lead.max():.0f} %, with three times the memory" in FLAT
    assert abs(opponents.lead(own, dedup=True) - 1).max() < 0.02
    assert opponents.lead(own, dedup=True)[-1] == pytest.approx(1, abs=1e-3)
    free = own[own["s"] == 0.9].groupby("policy")["communication_without_sync_s"].mean() * 1e3
    best = {
        family: min(ms for label, ms in free.items() if str(label).startswith(family))
        for family in ("hybrid", "FlexShard", "2D", "row-wise, dedup")
    }
    assert (
        f"`hybrid` would take {best['hybrid']:.1f} ms, FlexShard {best['FlexShard']:.1f}, 2D {best['2D']:.1f} "
        f"and row-wise with dedup, which has none, {best['row-wise, dedup']:.1f}" in FLAT
    )


def test_the_numbers_of_scale_and_topology() -> None:
    ms = frame("scale").pivot_table(index="policy", columns="islands", values="communication_s")
    gain = (ms.loc["row-wise"] / ms.loc["FlexShard"]).loc[4:]
    assert f"From 32 ranks on FlexShard is {gain.min():.1f} to {gain.max():.1f} times as fast" in FLAT
    held = frame("scale").query("islands == 128").set_index("policy")["memory_bytes"] / 1e6
    assert (
        f"`hybrid` with {held['hybrid']:.0f} MB a GPU, FlexShard with row-wise's {held['FlexShard']:.0f}"
        in FLAT
    )
    islands = frame("islands").pivot_table(
        index="policy", columns="gpus_per_island", values="communication_s"
    )
    larger = islands[2] / islands[72]
    assert (
        f"{larger['FlexShard']:.1f} times from 2 to 72 ranks, row-wise {larger['row-wise']:.1f} times" in FLAT
    )
    assert f"`hybrid`, which has no island tier, {larger['hybrid']:.1f} times" in FLAT
    dedup = [larger[f"{policy}, dedup by island"] for policy in ("row-wise", "FlexShard")]
    assert f"{dedup[0]:.1f} times under row-wise and {dedup[1]:.1f} under FlexShard" in FLAT
    base, ours = (
        topology.times_ms(frame("nics"), policy, "nic_bandwidth")[1] for policy in ("row-wise", "FlexShard")
    )
    assert (
        f"row-wise gains {base[0] / base[-1]:.1f} times from 8 times the rate, FlexShard {ours[0] / ours[-1]:.1f}, "
        f"so its speed-up falls from {base[0] / ours[0]:.1f}x to {base[-1] / ours[-1]:.1f}x" in FLAT
    )


def test_the_numbers_of_drift_and_balance() -> None:
    own = frame("drift")
    gain = dict(zip(np.unique(own["drift"]), drift.speedups(own, "FlexShard"), strict=True))
    assert gain[0.2] == pytest.approx(gain[0] / 2, rel=0.05)
    assert gain[0.7] > 1 > gain[1.0]
    assert drift.speedup_over(own, 0.01, 1000) > 0.97 * max(
        drift.speedup_over(own, 0.01, k) for k in (10, 30, 100)
    )
    took = own[own["policy"] == "FlexShard"]["replan_s"].mean()
    assert f"handing out the copies takes {1e3 * took:.1f} ms" in FLAT
