"""One NIC of a cluster is bad. What does the explanation of a run say?"""

import simulator

topology = simulator.load_topology("topologies/teaching_2x2.yaml").with_(
    overrides=[{"target": "nic/1", "factor": 0.25}]
)
(explanation,) = simulator.explain(topology, "workloads/tiny.yaml", ["row_wise"])

print(f"communication: {1e6 * explanation.communication_s:.1f} us")
for phase in explanation.phases:
    lead = phase.lead
    print(f"{phase.name:18} limited by {lead.bottleneck}, {lead.time_s / lead.next_s:.1f} times {lead.next}")
for step in explanation.path.steps:
    print(
        f"{1e6 * step.begin_s:6.1f} us  {step.name:18} until rank {step.rank}, began with {step.last_to_come}"
    )
for each in explanation.elasticities.of:
    print(f"{each.knob:20} {round(each.value, 2) + 0.0:+.2f}")
