"""`shardsim all-to-all`: one collective by itself."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from simulator.errors import UserError
from simulator.units import parse_bytes
from simulator.verbs.arguments import (
    EngineOption,
    JsonOption,
    ToleranceOption,
    TopologyArgument,
    quantity_argument,
    written_file,
)

MatrixOption = Annotated[
    Path | None,
    typer.Option(help="W x W byte counts, a line a sender, as alltoallv_perf reads them", metavar="FILE"),
]
SizeOption = Annotated[
    str | None,
    typer.Option("--bytes", help='an even one: bytes of each rank, its own share included, such as "1 GB"'),
]
AlgorithmOption = Annotated[
    Literal["direct", "hierarchical", "rail"], typer.Option(help="how it is carried out")
]
ExactOption = Annotated[bool, typer.Option("--exact", help="solve at each flow's end, not in time steps")]
FlowsOption = Annotated[Path | None, written_file("--flows", help="write each flow's finish to this CSV")]


def all_to_all(
    topology: TopologyArgument,
    matrix: MatrixOption = None,
    size: SizeOption = None,
    algorithm: AlgorithmOption = "direct",
    engine: EngineOption = "fluid",
    exact: ExactOption = False,
    tolerance: ToleranceOption = 0.01,
    json_file: JsonOption = None,
    flows: FlowsOption = None,
) -> None:
    """Simulate one all-to-all, of a matrix or even."""
    from simulator.collectives.all_to_all_even import run_even_all_to_all
    from simulator.collectives.all_to_all_run import AllToAllFigures, AllToAllResult, run_all_to_all
    from simulator.collectives.matrix import read_matrix
    from simulator.experiment.results import write_json
    from simulator.report.single_collective import all_to_all_text
    from simulator.topology.load import load_topology

    if (matrix is None) == (size is None):
        raise UserError("all-to-all: give either --matrix FILE or --bytes SIZE")
    cluster = load_topology(topology)
    how: dict[str, Any] = {
        "tolerance": None if exact else tolerance or None,
        "algorithm": algorithm,
        "engine": engine,
    }
    if matrix is not None:
        result: AllToAllFigures = run_all_to_all(cluster, read_matrix(matrix, cluster.world_size), **how)
    else:
        bytes_per_rank = quantity_argument("--bytes", size or "", parse_bytes)
        result = run_even_all_to_all(cluster, bytes_per_rank, each_flow=flows is not None, **how)
    print(all_to_all_text(result))
    if json_file is not None:
        write_json(json_file, result.to_json())
    if flows is not None and isinstance(result, AllToAllResult):
        result.write_flows(flows)
