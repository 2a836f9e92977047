"""Frontiers for a terminal, within 80 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.report.scales import bytes_text, time_scale, time_text
from simulator.report.table import plain_text
from simulator.sweeps.frontier import Candidate, Setting, in_words
from simulator.sweeps.names import short_names
from simulator.sweeps.prices import Offer, cheapest
from simulator.sweeps.rows import FIXED, Row

if TYPE_CHECKING:
    from rich.table import Table

MOST_SETTINGS = 4  # that are shown one by one
MOST_LISTED = 20  # points on the fronts of many settings
ON_FRONT = "*"
NOTE = "on the front: nothing is as quick with less memory, or quicker with as little.\n"


def frontier_text(settings: Sequence[Setting], *, width: int) -> str:
    """Each setting's points, those on the front marked; of many how often a policy is there, and the fronts."""
    if len(settings) > MOST_SETTINGS:
        counts = plain_text(count_table(settings), width=width)
        fronts = plain_text(front_table(settings), width=width)
        return f"{len(settings):,} settings\n{counts}{NOTE}\nOn the fronts\n{fronts}{more_text(settings)}"
    parts = [
        (f"{setting.name}\n" if setting.name else "") + plain_text(setting_table(setting), width=width)
        for setting in settings
    ]
    return "".join(parts) + f"{ON_FRONT} {NOTE}"


def setting_table(setting: Setting) -> "Table":
    """The candidates of one setting, those on the front marked."""
    made = _table("policy", "variant", "memory\na GPU", "latency", "")
    scale = time_scale([each.latency_s for each in setting.candidates])
    for each in setting.candidates:
        figures = (bytes_text(each.memory_bytes), scale.with_unit(each.latency_s))
        made.add_row(each.policy, each.variant, *figures, ON_FRONT if each.on_front else "")
    return made


def count_table(settings: Sequence[Setting]) -> "Table":
    """By policy: in how many settings it is on the front, and is quickest."""
    made = _table("policy", "", "on the\nfront", "quickest", "of all")
    policies = dict.fromkeys(each.policy for setting in settings for each in setting.candidates)
    for policy in policies:
        own = [setting for setting in settings if any(each.policy == policy for each in setting.candidates)]
        on_front = sum(
            any(each.on_front and each.policy == policy for each in setting.candidates) for setting in own
        )
        quickest = sum(setting.best.policy == policy for setting in own)
        made.add_row(policy, "", f"{on_front:,}", f"{quickest:,}", f"{len(own):,}")
    return made


def on_fronts(settings: Sequence[Setting]) -> list[tuple[Setting, Candidate]]:
    """Every point on the front of its setting."""
    return [(setting, each) for setting in settings for each in setting.candidates if each.on_front]


def front_table(settings: Sequence[Setting]) -> "Table":
    """The points on the fronts, the first if there are many."""
    listed = on_fronts(settings)[:MOST_LISTED]
    made = _table("setting", "policy", "memory\na GPU", "latency")
    scale = time_scale([each.latency_s for _, each in listed])
    for setting, each in listed:
        policy = f"{each.policy}, {each.variant}" if each.variant else each.policy
        made.add_row(setting.name, policy, bytes_text(each.memory_bytes), scale.with_unit(each.latency_s))
    return made


def more_text(settings: Sequence[Setting]) -> str:
    """How many points on fronts are not listed."""
    more = len(on_fronts(settings)) - MOST_LISTED
    return f"... and {more:,} more; --json FILE has all points.\n" if more > 0 else ""


def offers_text(
    offers: Sequence[Offer], unit: str, target_s: float | None, *, unpriced: Sequence[Row] = (), width: int
) -> str:
    """What each cluster costs and how quick it is, which have no price, then the cheapest within the target."""
    from rich.text import Text

    text = plain_text(offer_table(offers, unit, target_s, unpriced), width=width)
    lines = [unpriced_text(offers, unpriced)] if unpriced else []
    if target_s is not None:
        policies = dict.fromkeys(policy for offer in offers for policy in offer.latency_s)
        lines += [answer(offers, unit, target_s, policy, unpriced) for policy in (None, *policies)]
    return text + "".join(plain_text(Text(line), width=width) for line in lines)


def unpriced_text(offers: Sequence[Offer], unpriced: Sequence[Row]) -> str:
    """'1 cluster has no price: nic_bandwidth=100 Gbit/s.'."""
    names = cluster_names(offers, unpriced)[len(offers) :]
    have = "cluster has" if len(names) == 1 else "clusters have"
    more = f"; and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return f"{len(names):,} {have} no price: {'; '.join(names[:MOST_LISTED])}{more}."


def offer_table(
    offers: Sequence[Offer], unit: str, target_s: float | None, unpriced: Sequence[Row] = ()
) -> "Table":
    """Of several workloads the latency is that of the worst."""
    made = _table("cluster", "best policy", "price" + (f"\n({unit})" if unit else ""), "latency", "")
    names = cluster_names(offers, unpriced)[: len(offers)]
    scale = time_scale([best[1] for offer in offers if (best := offer.best()) is not None])
    for offer, name in zip(offers, names, strict=True):
        policy, latency_s = offer.best() or ("", None)
        within = target_s is not None and latency_s is not None and latency_s <= target_s
        price = f"{offer.price:,.12g}"
        made.add_row(name, policy, price, scale.with_unit(latency_s), "meets" if within else "")
    return made


def answer(
    offers: Sequence[Offer], unit: str, target_s: float, policy: str | None, unpriced: Sequence[Row] = ()
) -> str:
    """'Cheapest within 5 ms with flexshard: ...'."""
    whom = f" with {policy}" if policy else ""
    found = cheapest(offers, target_s, policy)
    best = None if found is None else found.best(policy)
    if found is None or best is None:
        return f"None of {len(offers)} is within {time_text(target_s)}{whom}."
    name = cluster_names(offers, unpriced)[offers.index(found)]
    chosen = "" if policy else f" with {best[0]}"
    price = f"{found.price:,.12g} {unit}".strip()
    return f"Cheapest within {time_text(target_s)}{whom}: {name}{chosen}, {price}, {time_text(best[1])}."


def cluster_names(offers: Sequence[Offer], unpriced: Sequence[Row]) -> list[str]:
    """What tells each from the others: the values varied in it, and its topology if there are several."""
    clusters = [*(offer.cluster for offer in offers), *unpriced]
    keys = list(dict.fromkeys(key for cluster in clusters for key in cluster if key not in FIXED))
    names = short_names(keys)
    if len({cluster["topology"] for cluster in clusters}) > 1 or not keys:
        names = {"topology": ""} | names
    return [in_words(cluster, names) for cluster in clusters]


def _table(first: str, second: str, *numbers: str) -> "Table":
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in (first, second):
        made.add_column(name, overflow="fold")
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made
