"""Where does a plan put the rows of a table, and what does each tier hold?"""

import simulator

made = simulator.plan(
    "topologies/dgx_h100_16x8.yaml", "workloads/sequence_dlrm.yaml", {"name": "flexshard", "memory": "hbm"}
)
first = made.runs[made.runs["table"] == made.runs["table"].iloc[0]]
print(first[["tier", "start", "stop", "lookup_share", "memory_bytes"]].round(3).to_string(index=False))
print(f"fullest rank: {made.memory_bytes_per_rank_max / 1e6:.0f} MB")
