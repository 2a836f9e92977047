"""Records SimGrid's finish of every flow of `simgrid_cases.CASES` in `simgrid_recorded.csv`.

Run with a Python that has SimGrid's bindings, here Debian's python3-simgrid 3.32:

    /usr/bin/python3 tests/reference/record_simgrid.py                 all cases
    /usr/bin/python3 tests/reference/record_simgrid.py --time 128      how long one skewed all-to-all takes

The model is CM02 as it is: max-min fair, no TCP window, no cross-traffic, factors 1, precision 1e-12.
"""

import csv
import subprocess
import sys
import time
from pathlib import Path

from simgrid_cases import CASES, Case

RECORDED = Path(__file__).with_name("simgrid_recorded.csv")
SETTINGS = {
    "network/model": "CM02",
    "network/TCP-gamma": "0",
    "network/crosstraffic": "0",
    "network/latency-factor": "1",
    "network/bandwidth-factor": "1",
    "maxmin/precision": "1e-12",
    "surf/precision": "1e-12",
}


def build(zone, case: Case) -> list:
    """Hosts and one link for each direction of each port; the routes of all ordered pairs."""
    from simgrid import LinkInRoute

    island_of = case.island_of
    hosts = [zone.create_host(f"rank{rank}", 1e9) for rank in range(len(island_of))]
    made = {}

    def link(name: str, rate: float):
        if name not in made:
            made[name] = zone.create_link(name, rate).set_latency(0).seal()
        return made[name]

    def path(source: int, destination: int) -> list:
        if island_of[source] == island_of[destination]:
            ports = [link(f"up{source}", case.scale_up), link(f"down{destination}", case.scale_up)]
            return ports + ([link(f"pair{source}-{destination}", case.pair_cap)] if case.pair_cap else [])
        way = [link(f"{nic_of(case, source)}out", case.nic)]
        if case.leaf is not None:
            below, rate = case.leaf
            leaves = [island_of[rank] // below for rank in (source, destination)]
            if leaves[0] != leaves[1]:
                way += [link(f"leaf{leaves[0]}up", rate), link(f"leaf{leaves[1]}down", rate)]
        return [*way, link(f"{nic_of(case, destination)}in", case.nic)]

    for source, sender in enumerate(hosts):
        for destination, receiver in enumerate(hosts):
            if source != destination:
                hops = [LinkInRoute(hop) for hop in path(source, destination)]
                zone.add_route(sender.netpoint, receiver.netpoint, None, None, hops, False)
    return hosts


def nic_of(case: Case, rank: int) -> str:
    """GPU g of G uses NIC g * nics // G of its island."""
    island = case.island_of[rank]
    local, size = rank - sum(case.islands[:island]), case.islands[island]
    nics = case.nics_per_island or size
    return f"nic{island}.{local * nics // size}."


def run(case: Case) -> list[tuple]:
    """Rows of the recorded table."""
    from simgrid import Actor, Comm, Engine, NetZone, this_actor

    engine = Engine(
        [sys.argv[0], *(f"--cfg={key}:{value}" for key, value in SETTINGS.items()), "--log=root.thres:error"]
    )
    zone = NetZone.create_full_zone("cluster")
    hosts = build(zone, case)
    zone.seal()
    flows = case.flows()
    sent = [None] * len(flows)

    def send_all() -> None:
        for start in sorted({flow[3] for flow in flows}):
            this_actor.sleep_until(start)
            for index, (source, destination, size, own_start) in enumerate(flows):
                if own_start == start:
                    sent[index] = Comm.sendto_async(hosts[source], hosts[destination], size)
        Comm.wait_all(sent)

    Actor.create("sender", hosts[0], send_all)
    engine.run()
    return [(case.name, *flow, comm.finish_time) for flow, comm in zip(flows, sent, strict=True)]


def main() -> None:
    if "--time" in sys.argv:
        ranks = int(sys.argv[sys.argv.index("--time") + 1])
        case = Case("timed", (8,) * (ranks // 8), 300e9, 25e9)
        began, began_cpu = time.perf_counter(), time.process_time()
        rows = run(case)
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
        print(f"{ranks} ranks, {len(rows)} flows: {wall_s:.1f} s, of which {cpu_s:.1f} s computing")
    elif "--case" in sys.argv:
        csv.writer(sys.stdout).writerows(run(CASES[int(sys.argv[-1])]))
    else:
        parts = [
            subprocess.check_output([sys.executable, __file__, "--case", str(i)], text=True)
            for i in range(len(CASES))
        ]
        RECORDED.write_text("case,source,destination,bytes,start_s,finish_s\n" + "".join(parts))


if __name__ == "__main__":
    main()
