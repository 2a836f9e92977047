"""How far the simulator is from measured all-to-alls.

Run from the checkout: python -m benchmarks.calibration. Prints three tables and writes them to docs/data/:
the fit and its predictions on one node, the shipped topologies on one node, and published points between nodes.
"""

import csv

import numpy as np

from benchmarks.tables import DATA, ROOT, Row, write
from simulator.calibrate.measurement import Measurement
from simulator.calibrate.read import read_log
from simulator.calibrate.report import calibrate
from simulator.calibrate.terms import predict_s
from simulator.collectives.all_to_all_run import run_all_to_all
from simulator.topology.load import load_topology
from simulator.topology.topology import Topology

ONE_NODE = DATA / "nccl_all_to_all_one_node.csv"
BETWEEN_NODES = DATA / "nccl_all_to_all_multi_node.csv"
DEVICE_OF = {
    "dgx_a100_16x8": "A100-SXM4-80GB",
    "zionex_16x8": "A100-SXM4-80GB",
    "dgx_h100_16x8": "H100-SXM",
    "h100_pod_64x8_7to1": "H100-SXM",
    "uneven": "H100-SXM",
}
TOPOLOGY_OF = {"A100": "dgx_a100_16x8", "H800": "dgx_h100_16x8"}
FITTED_BETWEEN_NODES = "H800"  # its one point gave the message gap


def fit_rows() -> list[Row]:
    """Errors of the fit and of its predictions, percent."""
    rows: list[Row] = []
    for row in calibrate([ONE_NODE]).table():
        mean, worst = float(row.pop("mean_absolute_error")), float(row.pop("worst_error"))
        rows.append({**row, "mean_absolute_percent": _percent(mean), "worst_percent": _percent(worst)})
    return rows


def shipped_rows() -> list[Row]:
    """Errors of the shipped topologies on the same points, percent."""
    rows: list[Row] = []
    for name, device in DEVICE_OF.items():
        topology = shipped(name)
        for ranks in (2, 4, 8):
            measured = [m for m in read_log(ONE_NODE) if (m.device, m.ranks) == (device, ranks)]
            errors = np.abs([first_ranks_s(topology, m) / m.time_s - 1 for m in measured])
            rows.append(
                {
                    "topology": name,
                    "ranks": ranks,
                    "points": len(errors),
                    "mean_absolute_percent": _percent(float(errors.mean())),
                    "worst_percent": _percent(float(errors.max())),
                }
            )
    return rows


def between_nodes_rows() -> list[Row]:
    """Published points between nodes beside the simulator's times."""
    rows: list[Row] = []
    for measurement, topology in points_between_nodes():
        predicted_s = predict_s(topology, measurement)
        rows.append(
            {
                "device": measurement.device,
                "nodes": measurement.nodes,
                "nic_gbyte_per_s_per_gpu": float(topology.inter_island_bytes_per_s[0]) / 1e9,
                "bytes_per_rank": measurement.bytes,
                "measured_us": round(measurement.time_s * 1e6, 1),
                "simulated_us": round(predicted_s * 1e6, 1),
                "error_percent": _percent(predicted_s / measurement.time_s - 1),
                "role": "fit" if measurement.device == FITTED_BETWEEN_NODES else "prediction",
            }
        )
    return rows


def points_between_nodes() -> list[tuple[Measurement, Topology]]:
    """The published points, each with the shipped topology cut to its nodes and NICs."""
    lines = [line for line in BETWEEN_NODES.read_text().splitlines() if not line.startswith("#")]
    points = []
    for measurement, row in zip(read_log(BETWEEN_NODES), csv.DictReader(lines), strict=True):
        topology = shipped(TOPOLOGY_OF[measurement.device]).with_(
            islands=measurement.nodes,
            nics_per_island=int(row["nics_per_node"]),
            nic_bandwidth=f"{row['nic_gbit_per_s']} Gbit/s",
        )
        points.append((measurement, topology))
    return points


def shipped(name: str) -> Topology:
    """A topology of topologies/."""
    return load_topology(ROOT / "topologies" / f"{name}.yaml")


def first_ranks_s(topology: Topology, measurement: Measurement) -> float:
    """An even all-to-all among the first ranks of the first island."""
    matrix = np.zeros((topology.world_size, topology.world_size), dtype=np.int64)
    matrix[: measurement.ranks, : measurement.ranks] = measurement.bytes // measurement.ranks
    return run_all_to_all(topology, matrix, tolerance=None).time_s


def _percent(share: float) -> float:
    return round(100 * share, 1)


def main() -> None:
    """All three tables."""
    write(fit_rows(), "calibration_fit")
    write(shipped_rows(), "calibration_shipped")
    write(between_nodes_rows(), "calibration_between_nodes")


if __name__ == "__main__":
    main()
