"""From which skew on do copies of hot rows pay? A sweep over the Zipf exponent, as a pandas frame."""

import simulator

result = simulator.sweep(
    "topologies/dgx_h100_16x8.yaml",
    "workloads/sequence_dlrm.yaml",
    ["row_wise", "flexshard"],
    {"workload.tables.items.popularity.s": [0.0, 0.4, 0.8, 1.2]},
)
times_ms = 1e3 * result.frame.pivot(
    index="workload.tables.items.popularity.s", columns="policy", values="communication_s"
)
times_ms["speed-up"] = times_ms["row_wise"] / times_ms["flexshard"]
times_ms.index.name = "Zipf s"
print(times_ms.round(2).to_string())
