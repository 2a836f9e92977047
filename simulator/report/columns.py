"""The columns of a comparison: which figure of `summary.json` each shows, and how. All tables share them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simulator.report.scales import MISSING, Scale, byte_scale, factor_text, share_text, time_scale

Row = Mapping[str, Any]
Kind = Literal["text", "traffic", "memory", "time", "share", "factor"]


@dataclass(frozen=True)
class Column:
    """One figure: its key in `summary.json`, its heading by lines, and what it means."""

    key: str
    heading: tuple[str, ...]
    kind: Kind
    meaning: str

    @property
    def title(self) -> str:
        """The heading in one line."""
        return " ".join(self.heading).replace("- ", "").strip()


POLICY = Column("policy", ("", "policy"), "text", "The sharding policy, by its label.")
TRAFFIC = (
    Column(
        "global_all_to_all_bytes",
        ("global", "all-to-all"),
        "traffic",
        "Bytes of the all-to-alls among ranks of several islands (tier global, and group where groups cross "
        "islands), all ranks together.",
    ),
    Column(
        "all_to_all_reduction",
        ("", "cut"),
        "share",
        "How much less global all-to-all traffic than the baseline's.",
    ),
    Column(
        "inter_island_bytes",
        ("on", "NICs"),
        "traffic",
        "All bytes between islands, synchronisation of replicas included.",
    ),
    Column(
        "replica_sync_inter_island_bytes",
        ("of it", "sync"),
        "traffic",
        "Bytes between islands that synchronise replicated rows.",
    ),
    Column("intra_island_bytes", ("on", "NVLink"), "traffic", "All bytes inside islands."),
    Column(
        "memory_bytes_per_rank_max",
        ("memory", "a GPU"),
        "memory",
        "Embedding weights on the GPU that holds most.",
    ),
)
TIME = (
    Column(
        "communication_s",
        ("communi-", "cation"),
        "time",
        "Time in which the slowest rank has a collective in flight, waiting included.",
    ),
    Column(
        "communication_without_sync_s",
        ("without", "sync"),
        "time",
        "The same without the synchronisation of replicated rows.",
    ),
    Column(
        "communication_speedup",
        ("", "speed-up"),
        "factor",
        "The baseline's communication time over this policy's.",
    ),
    Column("bound_s", ("", "bound"), "time", "What the busiest port or link allows at best."),
    Column("iteration_s", ("itera-", "tion"), "time", "The whole iteration, compute included."),
    Column("imbalance", ("im-", "balance"), "factor", "Bytes sent by the busiest rank over the mean."),
    Column("bottleneck", ("", "bottleneck"), "text", "The resource that limits the longest phase."),
)
COLUMNS = (POLICY, *TRAFFIC, *TIME)


class Units:
    """The unit of each kind of quantity in a comparison: columns of one kind can be compared."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._scales: dict[Kind, Scale] = {
            "traffic": byte_scale(_values(rows, "traffic")),
            "memory": byte_scale(_values(rows, "memory")),
            "time": time_scale(_values(rows, "time")),
        }

    def unit(self, column: Column) -> str:
        """The unit of a column's values; empty for shares, factors and text."""
        return self._scales[column.kind].unit if column.kind in self._scales else ""

    def number(self, column: Column, value: float) -> str:
        """A value of a traffic, memory or time column as people read it, without its unit."""
        return self._scales[column.kind].text(value)

    def text(self, column: Column, row: Row) -> str:
        """One value as people read it, without its unit."""
        value = row[column.key]
        if column.kind in self._scales:
            return self._scales[column.kind].text(value)
        if column.kind == "share":
            return share_text(value)
        if column.kind == "factor":
            return factor_text(value)
        return MISSING if value is None else str(value)


def _values(rows: Sequence[Row], kind: Kind) -> Iterable[float | None]:
    return [row[column.key] for column in COLUMNS if column.kind == kind for row in rows]
