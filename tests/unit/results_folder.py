"""Writes a small, made-up results folder in the format of real ones, for tests of what is drawn from it."""

import csv
import json
from pathlib import Path

import numpy as np

from simulator.report.folder import explanation_name, matrix_name, timeline_name
from simulator.seeds import generator

TIERS = {"flexshard": ("replicated", "island", "global"), "hybrid": ("replicated", "global")}
DEFAULT_POLICIES = ("row_wise", "table_wise", "flexshard")
ASSUMPTIONS = (
    "Cluster: made_up, given GPUs in given islands.",
    "Workload: made_up, un-pooled tables; synthetic skew, not the paper's tables, which are not public.",
    "Memory counts embedding weights.",
)


def write_folder(
    folder: Path,
    *,
    policies: tuple[str, ...] = DEFAULT_POLICIES,
    baseline: str | None = None,
    island_sizes: tuple[int, ...] = (4, 4),
    tables: tuple[str, ...] = ("items_0", "items_1", "users"),
    iterations: int = 2,
    traffic: bool = True,
    notes: dict[str, list[str]] | None = None,
    name: str = "made_up",
) -> Path:
    """A folder of `policies`; one whose label begins with a name in `TIERS` has that name's tiers."""
    folder.mkdir(parents=True, exist_ok=True)
    size = 1 if traffic else 0
    phases = [
        row
        for policy in policies
        for iteration in range(iterations)
        for row in phase_rows(policy, iteration, size, traffic=traffic)
    ]
    write_csv(folder / "phases.csv", phases)
    write_csv(folder / "links.csv", link_rows(policies, sum(island_sizes), traffic=traffic))
    write_csv(folder / "memory.csv", memory_rows(policies))
    write_csv(folder / "tiers.csv", tier_rows(policies, tables))
    write_csv(folder / "popularity.csv", popularity_rows(tables))
    for policy in policies:
        lanes = lane_rows(policy, island_sizes, phases)
        write_csv(folder / timeline_name(policy), lanes)
        explanation = explanation_json(policy, phases)
        (folder / explanation_name(policy)).write_text(json.dumps(explanation))
    write_matrices(folder, policies, island_sizes, traffic=traffic)
    summary = summary_json(policies, baseline or policies[0], phases, folder, traffic=traffic)
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(
        json.dumps(manifest_json(name, policies, island_sizes, notes or {}))
    )
    return folder


def tiers_of(policy: str) -> tuple[str, ...]:
    return next((tiers for prefix, tiers in TIERS.items() if policy.startswith(prefix)), ("global",))


def phase_rows(policy: str, iteration: int, size: int, *, traffic: bool) -> list[dict]:
    """Ids, embeddings and gradients of each tier, then the synchronisation of replicas."""
    random = generator(7, "phases", iteration, sum(policy.encode()))
    tiers = [tier for tier in tiers_of(policy) if tier != "replicated"]
    steps = [(step, tier) for step in ("ids", "embeddings", "gradients") for tier in tiers]
    if "replicated" in tiers_of(policy):
        steps.append(("replica_sync", "replicated"))
    rows = []
    for step, tier in steps if traffic else []:
        weight = {"ids": 1, "embeddings": 32, "gradients": 32, "replica_sync": 10}[step]
        share = 1.0 if len(tiers) == 1 else {"global": 0.15, "island": 0.5, "replicated": 0.1}[tier]
        moved = int(size * weight * share * 2e8 * random.uniform(0.9, 1.1))
        inter = 0 if tier == "island" else moved * 7 // 8
        transfer_s = inter / 2.5e10 + (moved - inter) / 2e11
        rows.append(
            {
                "policy": policy,
                "iteration": iteration,
                "phase": f"{step}_{tier}",
                "step": step,
                "tier": tier,
                "bytes": moved,
                "inter_island_bytes": inter,
                "intra_island_bytes": moved - inter,
                "mean_wait_s": 0.1 * transfer_s,
                "max_wait_s": 0.2 * transfer_s,
                "transfer_s": transfer_s,
                "bound_s": 0.9 * transfer_s,
                "bottleneck": "nic/3/egress",
            }
        )
    return rows


def link_rows(policies: tuple[str, ...], ranks: int, *, traffic: bool) -> list[dict]:
    rows = []
    for policy in policies:
        random = generator(7, "links", sum(policy.encode()))
        for kind, capacity in (("scale_up", 4.5e11), ("nic", 5e10)):
            for resource in (
                f"{kind}/{rank}/{way}" for rank in range(ranks) for way in ("egress", "ingress")
            ):
                used = float(random.uniform(0.3, 1.0)) * (0.2 if kind == "scale_up" else 1.0) * traffic
                rows.append(
                    {
                        "policy": policy,
                        "resource": resource,
                        "kind": kind,
                        "capacity_bytes_per_s": capacity,
                        "bytes": used * capacity * 0.1,
                        "utilisation": used,
                    }
                )
    return rows


def memory_rows(policies: tuple[str, ...]) -> list[dict]:
    shares = {"replicated": 2e8, "island": 3e8, "global": 1.5e9}
    return [
        {"policy": policy, "tier": tier, "bytes": int(shares[tier])}
        for policy in policies
        for tier in tiers_of(policy)
    ]


def tier_rows(policies: tuple[str, ...], tables: tuple[str, ...]) -> list[dict]:
    rows = []
    for policy in policies:
        tiers = tiers_of(policy)
        cuts = [0, *(10 ** (3 + 2 * place) for place in range(len(tiers) - 1)), 10_000_000]
        for table in tables:
            for place, tier in enumerate(tiers):
                bounds = {"start_row": cuts[place], "stop_row": cuts[place + 1]}
                share = 1 / len(tiers)
                rows.append({"policy": policy, "table": table, "tier": tier, **bounds, "lookup_share": share})
    return rows


def popularity_rows(tables: tuple[str, ...]) -> list[dict]:
    """A curve a table; names that differ in a number behind `_` alone are alike."""
    rows = np.unique(np.geomspace(1, 10_000_000, 60).astype(int))
    kinds = sorted({table.rsplit("_", 1)[0] for table in tables})
    return [
        {"table": table, "rows": int(row), "cumulative_share": float(share)}
        for table in tables
        for row, share in zip(
            rows, (np.log1p(rows) / np.log1p(1e7)) ** (1 + kinds.index(table.rsplit("_", 1)[0])), strict=True
        )
    ]


def write_matrices(
    folder: Path, policies: tuple[str, ...], island_sizes: tuple[int, ...], *, traffic: bool
) -> None:
    """Global phases fill everything, island phases the blocks of the islands."""
    island = np.repeat(np.arange(len(island_sizes)), island_sizes)
    inside = island[:, None] == island[None, :]
    for policy in policies:
        for tier in ("global", "island"):
            if tier not in tiers_of(policy):
                continue
            random = generator(7, "matrix", sum(policy.encode()))
            matrix = random.lognormal(13, 1, inside.shape).astype(np.int64) * traffic
            if tier == "island":
                matrix *= inside * 20
            lines = (" ".join(map(str, row)) + "\n" for row in matrix.tolist())
            (folder / matrix_name(policy, f"embeddings_{tier}")).write_text("".join(lines))


def summary_json(
    policies: tuple[str, ...], baseline: str, phases: list[dict], folder: Path, *, traffic: bool
) -> dict:
    totals = {policy: totals_of([row for row in phases if row["policy"] == policy]) for policy in policies}
    rows = []
    for policy, row in totals.items():
        base = totals[baseline]
        cut = row["global_all_to_all_bytes"] / base["global_all_to_all_bytes"] if traffic else None
        rows.append(
            {
                "policy": policy,
                **row,
                "memory_bytes_per_rank_max": sum(
                    each["bytes"] for each in memory_rows(policies) if each["policy"] == policy
                ),
                "all_to_all_reduction": None if cut is None else 1 - cut,
                "communication_speedup": base["communication_s"] / row["communication_s"]
                if traffic
                else None,
                "bottleneck": "nic/3/egress" if traffic else "none",
                "imbalance": 1.25 if traffic else None,
                "spread": {"communication_s": {"mean": 0.1, "std": 0.002, "half_width": 0.003}},
            }
        )
    return {
        "baseline": baseline,
        "provenance": {
            "digest": "0123abcd",
            "seed": 7,
            "engine": "fluid",
            "tolerance": 0.01,
            "shardsim": "0.1.0",
        },
        "policies": rows,
    }


def totals_of(phases: list[dict]) -> dict[str, float]:
    """Means an iteration, in the way of a real summary."""
    iterations = max(len({row["iteration"] for row in phases}), 1)

    def mean(key: str, chosen: list[dict]) -> float:
        return sum(row[key] for row in chosen) / iterations

    sync = [row for row in phases if row["step"] == "replica_sync"]
    rest = [row for row in phases if row["step"] != "replica_sync"]
    everywhere = [row for row in rest if row["tier"] == "global"]
    communication_s = 1.1 * mean("transfer_s", phases)
    return {
        "global_all_to_all_bytes": mean("bytes", everywhere),
        "inter_island_bytes": mean("inter_island_bytes", phases),
        "intra_island_bytes": mean("intra_island_bytes", phases),
        "replica_sync_inter_island_bytes": mean("inter_island_bytes", sync),
        "communication_s": communication_s,
        "communication_without_sync_s": 1.1 * mean("transfer_s", rest),
        "iteration_s": communication_s + 0.009,
        "bound_s": mean("bound_s", phases),
    }


def manifest_json(
    name: str, policies: tuple[str, ...], island_sizes: tuple[int, ...], notes: dict[str, list[str]]
) -> dict:
    return {
        "name": name,
        "provenance": {
            "digest": "0123abcd",
            "seed": 7,
            "engine": "fluid",
            "tolerance": 0.01,
            "shardsim": "0.1.0",
        },
        "versions": {"python": "3.11.0", "numpy": "2.1.0"},
        "inputs": {"made_up.yaml": "cafe"},
        "assumptions": list(ASSUMPTIONS),
        "notes": {policy: notes.get(policy, []) for policy in policies},
        "island_sizes": list(island_sizes),
        "topology": {"name": "made_up", "islands": len(island_sizes), "scale_up": {"bandwidth": "450 GB/s"}},
        "workload": {"name": "made_up", "batch_per_rank": 512, "tables": [{"name": "items", "count": 2}]},
        "experiment": {"name": name, "policies": list(policies), "iterations": 2, "seed": 7},
    }


def lane_rows(policy: str, island_sizes: tuple[int, ...], phases: list[dict]) -> list[dict]:
    """The first and the last rank of each island; the last comes later to every phase of the first iteration."""
    own = [row for row in phases if row["policy"] == policy and row["iteration"] == 0]
    starts = np.cumsum([0, *island_sizes])
    rows = []
    for island, size in enumerate(island_sizes):
        for role in ("slowest", "fastest")[: min(size, 2)]:
            now_s = 0.0
            lane = {
                "rank": int(starts[island]) + (size - 1) * (role == "fastest"),
                "island": island,
                "role": role,
            }
            for phase in own:
                late_s = phase["max_wait_s"] * (role == "slowest")
                start_s = now_s + phase["max_wait_s"]
                end_s = start_s + phase["transfer_s"]
                times = {"enter_s": now_s + late_s, "start_s": start_s, "end_s": end_s}
                what = {"stream": "communication", "kind": "collective", "operation": phase["phase"]}
                rows.append({**lane, **what, **times})
                now_s = end_s
            times = {"enter_s": now_s, "start_s": now_s, "end_s": now_s + 0.009}
            rows.append({**lane, "stream": "compute", "kind": "compute", "operation": "dense", **times})
    return rows


def explanation_json(policy: str, phases: list[dict]) -> dict:
    """Of the first iteration: nine tenths of every phase are its bound, the rest is start-up."""
    own = [row for row in phases if row["policy"] == policy and row["iteration"] == 0]
    moving_s = sum(row["transfer_s"] for row in own)
    lead = {"bottleneck": "nic/3/egress", "next": "nic/2/egress", "next_kind": "scale_up/3/egress"}

    def parts(transfer_s: float, waiting_s: float) -> dict:
        names = ("imbalance_s", "pair_cap_s", "contention_s", "latency_s")
        shares = {"even_s": 0.9 * transfer_s, "startup_s": 0.1 * transfer_s, "waiting_s": waiting_s}
        return shares | dict.fromkeys(names, 0.0)

    def phase(row: dict) -> dict:
        times = {"time_s": row["bound_s"], "next_s": row["bound_s"] / 2, "next_kind_s": row["bound_s"] / 8}
        made = {"name": row["phase"], "parts": parts(row["transfer_s"], row["mean_wait_s"])}
        return (
            made
            | {key: row[key] for key in ("mean_wait_s", "max_wait_s", "transfer_s", "bound_s")}
            | {"lead": lead | times}
        )

    def step(operation: int, row: dict, begin_s: float) -> dict:
        made = {
            "operation": operation,
            "name": row["phase"],
            "rank": 3,
            "last_to_come": 2,
            "begin_s": begin_s,
        }
        waits = {key: row[key] for key in ("mean_wait_s", "max_wait_s")}
        return made | waits | {"end_s": begin_s + row["transfer_s"]}

    begins_s = np.cumsum([0.0, *(row["transfer_s"] for row in own)]).tolist()
    return {
        "policy": policy,
        "iteration_s": moving_s + 0.009,
        "communication_s": moving_s,
        "communication_parts_s": parts(moving_s, 0.0) | {"overlap_s": 0.0},
        "slowest_rank": 3,
        "phases": [phase(row) for row in own],
        "critical_path": {
            "late_s": 0.0,
            "compute_s": 0.009,
            "parts_s": parts(moving_s, 0.0),
            "steps": [step(place, *pair) for place, pair in enumerate(zip(own, begins_s, strict=False))],
        },
    }


def write_csv(path: Path, rows: list[dict]) -> None:
    """A table; without rows the file holds an empty line, as pandas writes it."""
    with path.open("w", newline="") as file:
        if not rows:
            file.write("\n")
            return
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
