"""What clusters cost, by the user's own figures, and the cheapest that is quick enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from simulator.config.errors import Finding
from simulator.config.load import load_model, refused_in
from simulator.config.model import StrictModel
from simulator.config.types import NonNegative
from simulator.errors import UserError
from simulator.sharding.registry import unknown
from simulator.sweeps.frontier import Setting
from simulator.sweeps.names import as_numbers
from simulator.sweeps.rows import Row, cell


class PriceSpec(StrictModel):
    """The price of every cluster that fits `where`."""

    where: dict[str, Any] = Field(
        description="columns of the sweep and their values, such as {topology: dgx_h100_16x8}; {} is every cluster"
    )
    price: NonNegative = Field(description="of the whole cluster; required")


class PricesSpec(StrictModel):
    """A price list. The first entry that fits a cluster is its price."""

    unit: str = Field("", description="what prices are in, such as USD; default nothing")
    prices: list[PriceSpec] = Field(min_length=1, description="required")


@dataclass(frozen=True, eq=False)
class Offer:
    """A cluster with its price, and the settings that it was computed in: one for each workload."""

    cluster: Row  # the topology and the values varied in it
    price: float
    settings: tuple[Setting, ...]

    @cached_property
    def latency_s(self) -> dict[str, float]:
        """By policy, over the workloads the longest of its quickest points; policies that all workloads have."""
        worst: dict[str, list[float]] = {}
        for setting in self.settings:
            for policy in dict.fromkeys(each.policy for each in setting.candidates):
                own = (each.latency_s for each in setting.candidates if each.policy == policy)
                worst.setdefault(policy, []).append(min(own))
        return {policy: max(times) for policy, times in worst.items() if len(times) == len(self.settings)}

    def best(self, policy: str | None = None) -> tuple[str, float] | None:
        """The policy that is quickest on the workload that is worst for it, or the one asked for; None if absent."""
        own = {name: time for name, time in self.latency_s.items() if policy in (None, name)}
        return min(own.items(), key=lambda item: item[1], default=None)


def load_prices(path: Path) -> PricesSpec:
    """Read a price list. Raises ConfigError with a line for each problem."""
    return load_model(path, PricesSpec)


def offers_of(settings: Sequence[Setting], prices: PricesSpec, source: Path | None = None) -> list[Offer]:
    """Clusters that have a price, the cheapest first; see `unpriced` for the others.

    Raises UserError for an unknown column, with its place in the file that is the `source`, or when none has a price.
    """
    clusters = clusters_of(settings)
    if findings := unknown_columns(prices, list(dict.fromkeys(key for own, _ in clusters for key in own))):
        raise refused_in(source, findings) if source else UserError(f"prices: {findings[0].text}")
    offers = [
        Offer(cluster, price, own)
        for cluster, own in clusters
        if (price := price_of(cluster, prices)) is not None
    ]
    if not offers:
        raise UserError(f"{source or 'prices'}: no entry fits any cluster of these results")
    return sorted(offers, key=lambda offer: offer.price)


def unpriced(settings: Sequence[Setting], prices: PricesSpec) -> list[Row]:
    """Clusters that no entry fits."""
    return [cluster for cluster, _ in clusters_of(settings) if price_of(cluster, prices) is None]


def clusters_of(settings: Sequence[Setting]) -> list[tuple[Row, tuple[Setting, ...]]]:
    """Each cluster, and the settings that it was computed in."""
    clusters: dict[tuple[tuple[str, str], ...], list[Setting]] = {}
    for setting in settings:
        own = {key: text for key, text in setting.inputs.items() if is_of_cluster(key)}
        clusters.setdefault(tuple(own.items()), []).append(setting)
    return [(dict(inputs), tuple(own)) for inputs, own in clusters.items()]


def unknown_columns(prices: PricesSpec, columns: list[str]) -> list[Finding]:
    """Keys of `where` that no cluster has."""
    return [
        Finding(("prices", index, "where", key), unknown("column", key, columns))
        for index, entry in enumerate(prices.prices)
        for key in entry.where
        if key not in columns
    ]


def is_of_cluster(column: str) -> bool:
    return column in ("topology", "world_size") or column.startswith("topology.")


def price_of(cluster: Row, prices: PricesSpec) -> float | None:
    """None when no entry fits."""
    for entry in prices.prices:
        if all(same(cluster.get(key, ""), cell(value)) for key, value in entry.where.items()):
            return entry.price
    return None


def same(one: str, other: str) -> bool:
    """Equal as text, or as numbers and quantities: '50 GB/s' is '400 Gbit/s'."""
    numbers = as_numbers([one, other])
    return one == other or (numbers is not None and numbers[0][0] == numbers[0][1])


def cheapest(offers: Sequence[Offer], target_s: float, policy: str | None = None) -> Offer | None:
    """The cheapest cluster that is within the target on all its workloads; of equals the quickest. None if none is."""
    times_s = [(offer, found[1]) for offer in offers if (found := offer.best(policy)) is not None]
    meeting = [(offer.price, time_s, offer) for offer, time_s in times_s if time_s <= target_s]
    return min(meeting, key=lambda each: each[:2], default=(0.0, 0.0, None))[2]
