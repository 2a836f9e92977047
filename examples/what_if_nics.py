"""What do faster NICs buy each policy? Edits a topology without a YAML file."""

import simulator

topology = simulator.load_topology("topologies/dgx_h100_16x8.yaml")
workload = simulator.load_workload("workloads/sequence_dlrm.yaml")

for bandwidth in ("100 Gbit/s", "200 Gbit/s", "400 Gbit/s"):
    cluster = topology.with_(nic_bandwidth=bandwidth)
    result = simulator.compare(cluster, workload, ["row_wise", "flexshard"], iterations=1, engine="bound")
    times = [result.policy(label).mean("communication_s") for label in ("row_wise", "flexshard")]
    row_wise_ms, flexshard_ms = (1e3 * time_s for time_s in times)
    print(f"{bandwidth}: row_wise {row_wise_ms:5.1f} ms, flexshard {flexshard_ms:5.1f} ms")
