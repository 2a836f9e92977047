"""How much memory does FlexShard need to be quick? The front of memory and latency."""

import simulator

topology = simulator.load_topology("topologies/teaching_2x2.yaml")
workload = simulator.load_workload("workloads/tiny.yaml").with_(batch_per_rank=64)

result = simulator.sweep(
    topology,
    workload,
    ["row_wise", "flexshard"],
    {"policies.flexshard.memory_scale": [1.0, 1.25, 1.5, 2.0, 3.0]},
)
(setting,) = result.settings()
for point in setting.candidates:
    mark = "on the front" if point.on_front else ""
    print(
        f"{point.policy:9} {point.variant:17} {point.memory_bytes / 1e3:5.1f} kB "
        f"{1e6 * point.latency_s:5.2f} us  {mark}".rstrip()
    )
