"""Three policies on sixteen 8-GPU servers: who moves how much, and how long it takes."""

import simulator

result = simulator.compare(
    "topologies/dgx_h100_16x8.yaml",
    "workloads/sequence_dlrm.yaml",
    ["row_wise", "table_wise", "flexshard"],
    iterations=1,
    seed=7,
)
print(result)

slowest = result.summary.sort_values("communication_s").iloc[-1]
print(
    f"\nThe slowest is {slowest['policy']}: its busiest rank sends {slowest['imbalance']:.1f} times the mean."
)
