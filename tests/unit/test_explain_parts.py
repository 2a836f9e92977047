"""What communication is made of: by hand on a few flows, and as sums on drawn iterations."""

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

import simulator
from simulator.anatomy.parts import Costs, Parts, technology
from simulator.collectives.stage import Stage
from simulator.engine.program import Collective
from simulator.explanation.explanation import PolicyExplanation
from simulator.network.flows import Flows
from simulator.topology.build import uniform_topology

ROOT = Path(__file__).parents[2]
TOPOLOGY = uniform_topology(islands=2, gpus_per_island=2, scale_up_bytes_per_s=1000.0, nic_bytes_per_s=100.0)


def cost(*pairs: tuple[int, int, int], topology=TOPOLOGY, ranks=(0, 1, 2, 3), startup_s=0.0, steps=1):
    sources, destinations, sizes = (np.array(each) for each in zip(*pairs, strict=True))
    flows = Flows(sources.astype(np.int32), destinations.astype(np.int32), sizes.astype(np.int64))
    return Costs(topology).of(Collective("x", ranks, (Stage(flows, steps),), startup_s=startup_s))


class TestCosts:
    def test_the_busiest_port_over_the_mean_of_its_kind_is_imbalance(self):
        found = cost((0, 2, 100), (1, 3, 300))
        assert found.bound_s == found.port_s == 3.0
        assert found.even_s == 1.0  # 400 B over four NICs of 100 B/s

    def test_even_traffic_has_none(self):
        found = cost(*((source, (source + 2) % 4, 200) for source in range(4)))
        assert found.even_s == found.bound_s == 2.0

    def test_only_ports_that_its_ranks_can_use_count(self):
        found = cost((0, 1, 1000), ranks=(0, 1))
        assert found.bound_s == 1.0
        assert found.even_s == 0.5  # one of two ports sends

    def test_the_kind_that_is_busiest_when_even_counts(self):
        found = cost((0, 2, 100), (1, 3, 100), (2, 0, 100), (3, 1, 100), (0, 1, 3000))
        assert found.even_s == 1.0  # NICs, whose mean is above the 0.75 s of scale-up ports
        assert found.bound_s == 3.0

    def test_a_pair_that_is_capped(self):
        capped = TOPOLOGY.with_(**{"scale_up.pair_cap": "100 B/s"})
        found = cost((0, 1, 1000), topology=capped)
        assert found.bound_s == 10.0
        assert found.port_s == 1.0
        assert found.lead.bottleneck == "pair 0->1"
        assert found.lead.next.startswith("scale_up/")

    def test_startup_and_latency(self):
        slow = TOPOLOGY.with_(**{"scale_out.latency": "10 ms"})
        found = cost((0, 2, 100), topology=slow, startup_s=0.5, steps=3)
        assert found.startup_s == 0.5
        assert found.latency_s == pytest.approx(0.03)

    def test_who_leads_whom(self):
        lead = cost((0, 2, 100), (1, 3, 300), (2, 3, 500)).lead
        assert (lead.bottleneck, lead.time_s) == ("nic/1/egress", 3.0)
        assert (lead.next, lead.next_s) == ("nic/3/ingress", 3.0)
        assert (lead.next_kind, lead.next_kind_s) == ("scale_up/2/egress", 0.5)

    def test_nothing_is_led_by_nothing(self):
        found = Costs(TOPOLOGY).of(Collective("x", (0, 1), ()))
        assert found.lead.bottleneck == "none"
        assert found.bound_s == found.even_s == found.latency_s == 0.0


class TestParts:
    COST = cost((0, 2, 100), (1, 3, 300), startup_s=0.5)

    def test_of_a_rank_that_stays_to_the_end(self):
        parts = self.COST.parts(0.25, 3.75)
        assert parts == Parts(waiting_s=0.25, startup_s=0.5, even_s=1.0, imbalance_s=2.0, contention_s=0.25)
        assert parts.bound_s == 3.0
        assert parts.total_s == 4.0

    def test_of_a_rank_that_leaves_early(self):
        assert self.COST.parts(0.0, 1.25) == Parts(startup_s=0.5, even_s=0.75)
        assert self.COST.parts(0.0, 0.25) == Parts(startup_s=0.25)

    def test_they_add(self):
        one, two = self.COST.parts(1.0, 2.0), self.COST.parts(0.0, 3.0)
        assert (one + two).total_s == 6.0
        assert Parts() + one == one


@pytest.mark.parametrize(
    ("name", "kind"), [("nic/0+1/egress", "nic"), ("pair 3->5", "pair 3->5"), ("leaf/0/up", "leaf")]
)
def test_technologies(name, kind):
    assert technology(name) == kind


POLICIES = [
    "row_wise",
    {"name": "row_wise", "all_to_all": "hierarchical", "label": "leaders"},
    {"name": "flexshard", "memory": "hbm", "tiers": "concurrent", "shared_stream": False},
    {"name": "two_dimensional", "group_size": 2},
]


@pytest.fixture(scope="module", params=["teaching_2x2", "pcie_box"])
def explained(request) -> list[PolicyExplanation]:
    topology = simulator.load_topology(ROOT / "topologies" / f"{request.param}.yaml")
    workload = simulator.load_workload(ROOT / "workloads" / "tiny.yaml").with_(batch_per_rank=32)
    return simulator.explain(topology, workload, POLICIES, engine="fluid", tolerance=None)


def test_the_parts_of_the_slowest_rank_add_up_to_its_communication(explained):
    for own in explained:
        assert own.communication.total_s - own.overlap_s == pytest.approx(own.communication_s, rel=1e-12)
        assert min(astuple(own.communication)) >= 0
        assert own.overlap_s >= -1e-12


def test_the_critical_path_fills_the_iteration(explained):
    for own in explained:
        filled = own.path.late_s + own.path_compute_s + own.path_parts.total_s
        assert filled == pytest.approx(own.iteration_s, rel=1e-12)
        assert own.path_parts.waiting_s == 0


def test_every_phase_has_its_bound_in_its_parts(explained):
    for own in explained:
        assert own.phases
        for phase in own.phases:
            assert phase.parts.bound_s == pytest.approx(phase.bound_s, rel=1e-9)
            moved_s = phase.parts.total_s - phase.parts.waiting_s
            assert moved_s == pytest.approx(phase.transfer_s, rel=1e-12)


def test_it_is_what_simulate_says(explained):
    topology = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml")
    workload = simulator.load_workload(ROOT / "workloads" / "tiny.yaml").with_(batch_per_rank=32)
    (own,) = simulator.explain(topology, workload, ["row_wise"], tolerance=None)
    run = simulator.simulate(topology, workload, "row_wise", tolerance=None)
    assert own.communication_s == run.communication_s
    assert own.iteration_s == run.iteration_s
    by_name = run.phases.set_index("phase")
    for phase in own.phases:
        assert phase.transfer_s == by_name.loc[phase.name, "transfer_s"]
        assert phase.lead.bottleneck == by_name.loc[phase.name, "bottleneck"]


class TestPlanted:
    """A bottleneck that was put there is found."""

    @staticmethod
    def explain(**changes) -> PolicyExplanation:
        topology = simulator.load_topology(ROOT / "topologies" / "teaching_2x2.yaml").with_(**changes)
        workload = simulator.load_workload(ROOT / "workloads" / "tiny.yaml").with_(batch_per_rank=64)
        return simulator.explain(topology, workload, ["row_wise"])[0]

    def test_one_slow_nic(self):
        own = self.explain(overrides=[{"target": "nic/1", "factor": 0.05}])
        phases = {phase.name: phase for phase in own.phases}
        for name in ("ids_global", "embeddings_global", "gradients_global"):
            assert phases[name].lead.bottleneck.startswith("nic/1/")
        lead = phases["embeddings_global"].lead
        assert lead.next.startswith("nic/1/")  # the other direction of the same
        assert lead.next_kind_s < lead.time_s / 20
        uneven_s = own.communication.imbalance_s + own.communication.waiting_s  # for those behind that NIC
        assert uneven_s > 0.7 * own.communication_s
        assert max(own.elasticities.of, key=lambda each: abs(each.value)).knob != "scale-up bandwidth"

    def test_one_late_rank(self):
        own = self.explain(perturb=[{"target": "rank/2", "kind": "late", "by": "5 ms"}])
        assert own.path.late_s == pytest.approx(0.005)
        assert own.path.steps[0].last_to_come == 2
        assert own.path.steps[0].max_wait_s == pytest.approx(0.005)
        assert own.slowest_rank != 2
        assert own.communication.waiting_s == pytest.approx(0.005, rel=1e-3)

    def test_one_slow_gpu(self):
        own = self.explain(perturb=[{"target": "rank/1", "kind": "slow", "factor": 0.1}])
        (gradients,) = [step for step in own.path.steps if step.name == "gradients_global"]
        assert gradients.last_to_come == 1
        dense = [step.rank for step in own.path.steps if step.name in ("dense_forward", "dense_backward")]
        assert dense == [1, 1]

    def test_one_slow_pair(self):
        own = self.explain(**{"scale_up.pair_cap": "100 kB/s"})
        assert {technology(phase.lead.bottleneck)[:4] for phase in own.phases} == {"pair"}
        capped_s = own.communication.pair_cap_s + own.communication.waiting_s  # for the ranks of that pair
        assert capped_s > 0.99 * own.communication_s
        best = max(own.elasticities.of, key=lambda each: abs(each.value))
        assert best.knob == "scale-up pair cap"
        assert best.value == pytest.approx(-1, abs=0.02)
