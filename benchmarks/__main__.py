"""`python -m benchmarks [NAME...] [--large]`: every case in a process of its own, least time of several rounds.

Prints seconds by the clock and of computing (they differ when others use the machine), the process's peak memory,
the target where one is set, and the case's own figures. Exits with 1 when an exact count is not what it was.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

from benchmarks import load, network, sweeps, workloads
from benchmarks.case import Case
from benchmarks.network import fluid, skewed

KIB_PER_GIB = 1 << 20
CASES = (*network.CASES, *sweeps.CASES, *workloads.CASES, *load.CASES)
COLUMNS = ("clock_s", "computing_s", "peak_gib")


def measure(case: Case) -> dict[str, float]:
    """Seconds, GiB and figures of one case, in this process."""
    for tolerance in (None, 0.01):
        fluid(skewed(16), tolerance)  # compiled code is loaded before the clock runs
    work = case.prepare()
    clock_s, computing_s = [], []
    for _ in range(case.rounds):
        began, began_computing = time.perf_counter(), time.process_time()
        figures = case.run(work)
        clock_s.append(time.perf_counter() - began)
        computing_s.append(time.process_time() - began_computing)
    peak_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_GIB
    return {"clock_s": min(clock_s), "computing_s": min(computing_s), "peak_gib": peak_gib, **figures}


def in_own_process(case: Case) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks", "--measure", case.name]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


def report(case: Case, measured: dict[str, float]) -> bool:
    """Print a line; whether the counts are right."""
    figures = "  ".join(f"{name} {value:.6g}" for name, value in measured.items() if name not in COLUMNS)
    wrong = [name for name, count in case.counts.items() if measured[name] != count]
    complaint = "".join(f"  {name} SHOULD BE {case.counts[name]}" for name in wrong)
    print(
        f"{case.name:<34}{measured['clock_s']:>10.4f} s{measured['computing_s']:>10.4f} s"
        f"{measured['peak_gib']:>7.2f} GiB  {case.target:<12}{figures}{complaint}",
        flush=True,
    )
    return not wrong


def main() -> int:
    """Measure the cases asked for; 1 when a count is wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="only the cases whose names begin so")
    parser.add_argument("--large", action="store_true", help="also 4,096 ranks: minutes and gigabytes")
    parser.add_argument("--measure", metavar="NAME", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(next(case for case in CASES if case.name == arguments.measure))))
        return 0
    wanted = [
        case
        for case in CASES
        if (arguments.large or not case.large)
        and (not arguments.names or any(case.name.startswith(name) for name in arguments.names))
    ]
    return 0 if all(report(case, in_own_process(case)) for case in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
