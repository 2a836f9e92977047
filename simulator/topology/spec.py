"""The schema of a topology file. Every key says what it means, in which unit, and what it is when left out."""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from simulator.config.errors import refuse
from simulator.config.model import StrictModel
from simulator.config.types import (
    Bandwidth,
    Bytes,
    Duration,
    Efficiency,
    Factor,
    Name,
    PositiveCount,
    Ratio,
    Share,
    Text,
)
from simulator.topology.spec_lists import IslandList, NicList


def _refuse_direct(value: object) -> object:
    if value == "direct":
        raise ValueError(
            "a rail-only fabric has no path from rail to rail, allowed: 'scale_up', over the rail-mate"
        )
    return value


class StartupSpec(StrictModel):
    """Start-up time of one collective: alpha + gamma * sqrt(bytes of the busiest rank)."""

    alpha: Duration = Field(0.0, description="constant part; default 0 s")
    gamma: Duration = Field(0.0, description="part that grows with the square root of the bytes; default 0 s")


class GpuSpec(StrictModel):
    """One GPU's memory."""

    hbm_capacity: Bytes = Field(80 * 10**9, description="memory of one GPU; default 80 GB")
    hbm_bandwidth: Bandwidth = Field(3.35e12, description="memory bandwidth of one GPU; default 3.35 TB/s")
    host_bandwidth: Bandwidth = Field(
        25e9, description="at which a GPU reads its host's memory, about PCIe 4 x16; default 25 GB/s"
    )


class ScaleUpSpec(StrictModel):
    """The link of one GPU into its island (NVLink, PCIe, ICI), one direction."""

    bandwidth: Bandwidth = Field(description="rate of one GPU's port, one direction; required")
    latency: Duration = Field(0.0, description="time from end to end; default 0 s")
    efficiency: Efficiency = Field(
        1.0, description="share of the bandwidth that is reached, 0 to 1; default 1"
    )
    pair_cap: Bandwidth | None = Field(
        None, description="the fastest that one ordered pair can go, as measured (effective); default: no cap"
    )
    startup: StartupSpec = Field(StartupSpec(), description="of a collective within islands; default zero")
    message_gap: Duration = Field(
        0.0, description="time a message keeps its port busy besides its bytes; default 0 s"
    )


class NonBlockingSpec(StrictModel):
    """Only NICs limit what goes between islands."""

    kind: Literal["non_blocking"] = Field("non_blocking", description="a full-bisection fabric")


class RailOnlySpec(StrictModel):
    """One switch for each rail and nothing between them: NICs reach only those of equal local index."""

    kind: Literal["rail_only"] = Field(description="rails that do not meet")
    cross_rail: Annotated[Literal["scale_up"], BeforeValidator(_refuse_direct)] = Field(
        "scale_up",
        description="a flow between rails goes over scale-up to the rail-mate first; the only way there is",
    )


class LeafSpineSpec(StrictModel):
    """Islands share a leaf; what goes to another leaf passes its uplinks."""

    kind: Literal["leaf_spine"] = Field(description="two layers of switches")
    islands_per_leaf: PositiveCount = Field(1, description="islands below one leaf; default 1")
    oversubscription: Ratio = Field(
        1.0, description="NIC bandwidth below a leaf over that of its uplinks; default 1:1"
    )


class TorusSpec(StrictModel):
    """Islands on a 1D, 2D or 3D torus with links to their neighbours both ways in each dimension."""

    kind: Literal["torus"] = Field(description="a torus of islands")
    dims: tuple[PositiveCount, ...] = Field(
        min_length=1,
        max_length=3,
        description="islands along each dimension; their product is the number of islands",
    )
    link_bandwidth: Bandwidth = Field(
        description="rate of the link to one neighbour, one direction; required"
    )
    hop_latency: Duration = Field(0.0, description="added for each link passed; default 0 s")


FabricSpec = Annotated[
    NonBlockingSpec | RailOnlySpec | LeafSpineSpec | TorusSpec,
    Field(discriminator="kind"),
]


class ScaleOutSpec(StrictModel):
    """What joins the islands."""

    nics_per_island: IslandList | None = Field(
        None,
        description="NICs of an island, or a list, one an island; default: those in gpu_to_nic, or one a GPU",
    )
    nic_bandwidth: Bandwidth = Field(description="rate of one NIC, one direction; required")
    gpu_to_nic: NicList | None = Field(
        None,
        description="for each GPU of an island the local number of its NIC, or the list of those it bonds into one "
        "port; an island smaller than the list uses its first entries; default: GPU g of G uses NIC g*nics//G, and "
        "with more NICs than GPUs NIC n belongs to GPU n*G//nics, all of a GPU's bonded into one port",
    )
    latency: Duration = Field(0.0, description="time from end to end; default 0 s")
    efficiency: Efficiency = Field(
        1.0, description="share of the bandwidth that is reached, 0 to 1; default 1"
    )
    pair_cap: Bandwidth | None = Field(
        None, description="the fastest that one ordered pair can go, as measured (effective); default: no cap"
    )
    startup: StartupSpec = Field(
        StartupSpec(), description="of a collective that crosses islands; default zero"
    )
    message_gap: Duration = Field(
        0.0, description="time a message keeps its port busy besides its bytes; default 0 s"
    )
    fabric: FabricSpec = Field(NonBlockingSpec(), description="how the NICs are joined; default non_blocking")


class OverrideSpec(StrictModel):
    """One part that differs from its like. Give `bandwidth` or `factor`; later entries act on earlier ones."""

    target: Text = Field(
        description="'nic/3', 'scale_up/5', 'leaf/0', 'torus/2', or one direction of it: 'nic/3/egress', 'leaf/0/up'"
    )
    bandwidth: Bandwidth | None = Field(
        None, description="its own rate, before efficiency; default: as its like"
    )
    factor: Factor | None = Field(None, description="multiplies its rate; default 1")


class LateSpec(StrictModel):
    """A rank that starts every iteration late."""

    kind: Literal["late"]
    target: Text = Field(description="'rank/5'")
    by: Duration = Field(description="how late it starts; required")


class SlowSpec(StrictModel):
    """A rank that computes at another speed."""

    kind: Literal["slow"]
    target: Text = Field(description="'rank/5'")
    factor: Factor = Field(description="its speed; durations are divided by it; required")


class LinkSpec(StrictModel):
    """A port or link that runs below its rate for a time."""

    kind: Literal["link"] = "link"
    target: Text = Field(description="as in overrides")
    factor: Share = Field(description="share of the rate that is left; 0 = failed; required")
    from_: Duration = Field(
        0.0, alias="from", description="when it begins, from the start of an iteration; default 0 s"
    )
    until: Duration | None = Field(None, description="when it ends; default: never")

    @property
    def is_lasting(self) -> bool:
        """Whether it holds from the start and for good, and leaves some rate: then it is the same as an override."""
        return self.from_ == 0 and self.until is None and self.factor > 0


def _perturbation_kind(value: Any) -> Any:
    if isinstance(value, (LateSpec, SlowSpec, LinkSpec)):
        return value.kind
    return value.get("kind", "link") if isinstance(value, dict) else "link"


PerturbSpec = Annotated[
    Annotated[LateSpec, Tag("late")] | Annotated[SlowSpec, Tag("slow")] | Annotated[LinkSpec, Tag("link")],
    Discriminator(_perturbation_kind),
]


class TopologySpec(StrictModel):
    """A cluster."""

    name: Name = Field(description="what results call it; required")
    source: str = Field("", description="where the figures come from; default empty")
    islands: IslandList = Field(description="how many islands, or their sizes as a list, [8, 8, 4]; required")
    gpus_per_island: PositiveCount | None = Field(
        None, description="ranks of an island; required unless islands is a list"
    )
    gpus_per_host: PositiveCount | None = Field(
        None, description="ranks of a host; default: a host is an island"
    )
    world_size: PositiveCount | None = Field(None, description="all ranks; derived, and checked when given")
    gpu: GpuSpec = Field(GpuSpec(), description="memory of a GPU")
    scale_up: ScaleUpSpec | None = Field(
        None, description="within an island; may be left out when islands have 1 GPU"
    )
    scale_out: ScaleOutSpec | None = Field(
        None, description="between islands; may be left out with one island"
    )
    overrides: tuple[OverrideSpec, ...] = Field(
        (), description="parts that differ from their like; default none"
    )
    perturb: tuple[PerturbSpec, ...] = Field(
        (), description="late or slow ranks, slow or failing links; default none"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> "TopologySpec":
        from simulator.topology.check import findings

        if found := findings(self):
            refuse(found)
        return self

    @property
    def island_sizes(self) -> tuple[int, ...]:
        """Ranks of each island."""
        if isinstance(self.islands, tuple):
            return self.islands
        assert self.gpus_per_island is not None
        return (self.gpus_per_island,) * self.islands

    @property
    def nic_counts(self) -> tuple[int, ...]:
        """NICs of each island: as given, or what an explicit map names, or one for each GPU."""
        sizes, out = self.island_sizes, self.scale_out
        if out is not None and out.nics_per_island is not None:
            nics = out.nics_per_island
            return nics if isinstance(nics, tuple) else (nics,) * len(sizes)
        if out is not None and out.gpu_to_nic is not None:
            named = out.gpu_to_nic
            return tuple(1 + max(nic for entry in named[:size] for nic in entry) for size in sizes)
        return sizes
