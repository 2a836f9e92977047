"""The communication of a training cluster under embedding sharding policies, simulated.

Each verb is one call of the Python API. A mistake in the input is told in plain lines, with exit status 2.
"""

import io
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
import typer.core

from simulator.errors import StoppedError, UserError, is_interrupt
from simulator.files import writable
from simulator.studies import VERBS

INTERRUPTED_STATUS = 130


class Verbs(typer.core.TyperGroup):
    """Ctrl-C ends a verb with a line of ours, whichever version of the command line library is below."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            raise StoppedError from None


app = typer.Typer(
    cls=Verbs,
    help=__doc__,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

TopologyArgument = Annotated[Path, typer.Argument(help="topology file", metavar="TOPOLOGY")]
WorkloadArgument = Annotated[Path, typer.Argument(help="workload file", metavar="WORKLOAD")]
PolicyOption = Annotated[
    list[str],
    typer.Option("--policy", "-p", help="a name, or '{name: flexshard, memory: hbm}'; repeat it"),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", help="write the figures to this file", metavar="FILE", callback=writable),
]
ToleranceOption = Annotated[
    float, typer.Option(min=0, max=1, help="time step as a share of the port bound; 0 is exact")
]
EngineName = Literal["fluid", "bound"]


def main() -> None:
    """Run the command line; what a user or the machine is to blame for is printed as plain lines."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except UserError as error:
        fail(str(error))
    except StoppedError as stop:
        fail(": ".join(filter(None, ["interrupted", str(stop)])), status=INTERRUPTED_STATUS)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except MemoryError as error:
        fail(f"not enough memory: {error}")


def fail(text: str, *, status: int = 2) -> NoReturn:
    """End with a status and plain lines."""
    print(text, file=sys.stderr)
    sys.exit(status)


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="experiment file", metavar="EXPERIMENT")],
    out: Annotated[
        Path | None, typer.Option(help="results folder; default results/NAME", metavar="DIR")
    ] = None,
) -> None:
    """Replay an experiment and write its results folder.

    After a kill, the same command goes on where it stopped.
    """
    from simulator.experiment.experiment import load_experiment
    from simulator.experiment.results import summary_json
    from simulator.experiment.run import run_experiment
    from simulator.report.table import print_comparison
    from simulator.terminal import progress, resumable

    loaded = load_experiment(experiment)
    folder = out or Path("results") / loaded.name
    with resumable(folder), progress(loaded) as observer:
        comparison = run_experiment(loaded, folder, observer=observer)
    print_comparison(summary_json(comparison))
    print(f"\nResults: {folder}/report.html")


@app.command()
def compare(
    topology: TopologyArgument,
    workload: WorkloadArgument,
    policy: PolicyOption = [],  # noqa: B006, typer makes a new one
    plan_file: Annotated[
        list[Path], typer.Option("--plan", help="a saved plan to compare as well; repeat it", metavar="FILE")
    ] = [],  # noqa: B006
    iterations: Annotated[int, typer.Option(min=1, help="iterations to replay")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="of every random draw")] = 0,
    engine: Annotated[EngineName, typer.Option(help="fluid, or the port bound alone")] = "fluid",
    tolerance: ToleranceOption = 0.01,
    baseline: Annotated[
        str | None, typer.Option(help="label to compare with; default row_wise or the first")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Compare sharding policies on a topology and a workload."""
    from simulator.experiment.experiment import make_experiment
    from simulator.experiment.results import summary_json, write_json
    from simulator.experiment.simulate import simulate
    from simulator.report.table import print_comparison
    from simulator.sharding.policies.saved_plan import saved_plan_entry
    from simulator.terminal import progress
    from simulator.topology.load import load_topology
    from simulator.workload.load import load_workload

    if not policy and not plan_file:
        raise UserError("compare: name at least one --policy or --plan; `shardsim policies` lists them")
    experiment = make_experiment(
        name="compare",
        topology=load_topology(topology),
        workload=load_workload(workload),
        policies=[*policy_entries(policy), *(saved_plan_entry(file) for file in plan_file)],
        baseline=baseline,
        iterations=iterations,
        seed=seed,
        engine=engine,
        tolerance=tolerance,
    )
    with progress(experiment) as observer:
        figures = summary_json(simulate(experiment, observer=observer))
    print_comparison(figures)
    if json_file is not None:
        write_json(json_file, figures)


def policy_entries(texts: list[str]) -> list[Any]:
    """`--policy` values: names or YAML flow mappings."""
    from simulator.config.load import load_value
    from simulator.sharding.registry import PolicyEntry

    return [load_value(text, PolicyEntry, source="--policy") for text in texts]


@app.command()
def policies() -> None:
    """List the sharding policies with their options."""
    from simulator.report.table import print_policies
    from simulator.sharding.registry import available

    print_policies(available())


@app.command()
def validate(
    files: Annotated[list[Path], typer.Argument(help="files of any kind that shardsim reads")],
) -> None:
    """Check files and say what they are; nothing is run."""
    from simulator.validate import validate_file

    problems = []
    for file in files:
        try:
            print(f"{file}: {validate_file(file)}")
        except UserError as error:
            problems.append(str(error))
    if problems:
        raise UserError("\n".join(problems))


@app.command(name="all-to-all")
def all_to_all(
    topology: TopologyArgument,
    matrix: Annotated[
        Path | None,
        typer.Option(
            help="W x W byte counts, a line for each sender, as alltoallv_perf reads them", metavar="FILE"
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--bytes", help='an even one: bytes of each rank, its own share included, such as "1 GB"'
        ),
    ] = None,
    algorithm: Annotated[
        Literal["direct", "hierarchical", "rail"], typer.Option(help="how it is carried out")
    ] = "direct",
    engine: Annotated[EngineName, typer.Option(help="fluid, or the port bound alone")] = "fluid",
    exact: Annotated[
        bool, typer.Option("--exact", help="solve at each flow's end, not in time steps")
    ] = False,
    tolerance: ToleranceOption = 0.01,
    json_file: JsonOption = None,
    flows: Annotated[
        Path | None,
        typer.Option(help="write each flow's finish to this CSV", metavar="FILE", callback=writable),
    ] = None,
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
        bytes_per_rank = size_argument("--bytes", size or "")
        result = run_even_all_to_all(cluster, bytes_per_rank, each_flow=flows is not None, **how)
    print(all_to_all_text(result))
    if json_file is not None:
        write_json(json_file, result.to_json())
    if flows is not None and isinstance(result, AllToAllResult):
        result.write_flows(flows)


def size_argument(option: str, text: str) -> int:
    """Bytes from a quantity such as "1 GB". Raises UserError that names the option."""
    from simulator.units import UnitError, parse_bytes

    try:
        return parse_bytes(text)
    except UnitError as error:
        raise UserError(f"{option}: {error}") from error


@app.command()
def plan(
    topology: TopologyArgument,
    workload: WorkloadArgument,
    policy: Annotated[
        str, typer.Option("--policy", "-p", help="a name, or '{name: flexshard, memory: hbm}'")
    ],
    save: Annotated[
        Path | None, typer.Option(help="write the plan as YAML", metavar="FILE", callback=writable)
    ] = None,
) -> None:
    """Plan a policy, and say which rows go where and why."""
    from rich.console import Console

    from simulator.report.plan_view import plan_text
    from simulator.sharding.check import check_plan
    from simulator.sharding.execution import Execution
    from simulator.sharding.explain import explain_plan
    from simulator.sharding.plan_file import save_plan
    from simulator.sharding.registry import make_plan
    from simulator.topology.load import load_topology
    from simulator.workload.load import load_workload

    cluster, statistics = load_topology(topology), load_workload(workload).statistics()
    made = make_plan(policy_entries([policy])[0], statistics, cluster, Execution())
    check_plan(made, statistics, cluster)
    print(plan_text(made, explain_plan(made, statistics, cluster), width=Console().width), end="")
    if save is not None:
        save_plan(made, save)


@app.command()
def profile(
    trace: Annotated[Path, typer.Argument(help="trace or locality file", metavar="TRACE")],
    format_name: Annotated[
        Literal["user_item", "sessions", "user_items", "locality"],
        typer.Option("--format", help="what a line of the file is; it is never guessed"),
    ],
    workload: Annotated[
        Path | None,
        typer.Option(help="write a workload that draws the same", metavar="FILE", callback=writable),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="draw the shares to this picture", metavar="FILE", callback=writable)
    ] = None,
) -> None:
    """Measure a trace: its skew, lengths, reuse and drift."""
    from simulator.files import replace_file
    from simulator.report.profile_view import draw_profile, profile_text
    from simulator.workload.profile import profile_locality, profile_trace
    from simulator.workload.traces.source import TraceSource

    measured = (
        profile_locality(trace)
        if format_name == "locality"
        else profile_trace(TraceSource(trace, format_name))
    )
    print(profile_text(measured), end="")
    if workload is not None:
        replace_file(workload, measured.to_workload_yaml())
    if plot is not None:
        draw_profile(measured, plot)


@app.command()
def calibrate(
    logs: Annotated[list[Path], typer.Argument(help="nccl-tests output, or CSV of op,ngpus,bytes,time_us")],
    out: Annotated[
        Path | None,
        typer.Option(help="write the topology's terms as YAML", metavar="FILE", callback=writable),
    ] = None,
) -> None:
    """Fit a topology's terms to measured collectives.

    They are the start-up times, the efficiency and the pair cap.
    """
    from simulator.calibrate.report import calibrate as fit
    from simulator.files import replace_file
    from simulator.report.calibration_view import calibration_text

    report = fit(logs)
    print(calibration_text(report), end="")
    if out is not None:
        replace_file(out, report.to_yaml())
    else:
        print(report.to_yaml(), end="")


@app.command()
def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="which figures; default all", metavar="[NAME]...")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="from smaller runs, into results/figures unless told otherwise")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="folder of data and pictures; default the committed ones", metavar="DIR"),
    ] = None,
) -> None:
    """Regenerate the paper's figures from experiments/figures.

    After a kill, the same command goes on where it stopped.
    """
    from simulator.figures.make import make_figures

    for picture in make_figures(names or [], quick=quick, out=out):
        print(picture)


@app.command()
def schema(
    kind: Annotated[
        Literal["topology", "workload", "experiment", "sweep", "prices"], typer.Argument(help="kind of file")
    ],
) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    import json

    from simulator.config.load import json_schema
    from simulator.validate import model_of

    print(json.dumps(json_schema(model_of(kind)), indent=1))


for name, verb in VERBS.items():
    app.command(name=name)(verb)

if __name__ == "__main__":
    main()
