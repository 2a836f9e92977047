"""The page that compares two runs: what was changed, what came of it, and whether that is more than chance."""

from collections.abc import Sequence
from pathlib import Path

from simulator.report.columns import Kind
from simulator.report.folder import Results
from simulator.report.headline import Headline
from simulator.report.page.content import (
    Block,
    Cell,
    Fold,
    Gallery,
    Heading,
    Page,
    Picture,
    Prose,
    Section,
    Table,
    Tone,
)
from simulator.report.page.difference import (
    FigureDifference,
    KeyDifference,
    figure_differences,
    key_differences,
    phase_differences,
)
from simulator.report.page.pictures import bar_picture
from simulator.report.page.run import configuration_folds, provenance_terms
from simulator.report.plots.bars import Bar, BarChart, Group, Part
from simulator.report.plots.style import BLUE, ORANGE
from simulator.report.scales import MISSING, Scale, byte_scale, factor_text, share_text, time_scale, time_text

SUBJECT = "two runs compared"
COMMUNICATION = "communication"
BEYOND = {True: "yes", False: "no", None: MISSING}
ABOUT_INTERVALS = (
    "± is the half width of the 95 % confidence interval. Beyond: whether the difference is larger than the root of "
    "the sum of both squared half widths; n/a with one iteration, which has no interval."
)
ABOUT_BARS = "Means over the iterations; the first run above the second."


def comparison_page(one: Results, other: Results) -> Page:
    """The page of two runs; what changed is told relative to the first."""
    names = run_names(one.folder, other.folder)
    figures, phases = figure_differences(one, other), phase_differences(one, other)
    keys = key_differences(one.configuration, other.configuration)
    sections = (
        Section("What was changed", configuration_blocks(keys, names)),
        Section("What came of it", figure_blocks(figures, one, other, names)),
        Section("Phase by phase", phase_blocks(phases, names)),
        Section("Details", details(one, other, names)),
    )
    return Page(
        title=f"{names[0]} and {names[1]}",
        subject=SUBJECT,
        headline=Headline(sentence(figures, names), assumptions(one, other, names)),
        sections=tuple(section for section in sections if section.blocks),
    )


def run_names(one: Path, other: Path) -> tuple[str, str]:
    """The folders' names, with as many parents as tell them apart."""
    left, right = one.resolve().parts, other.resolve().parts
    for count in range(1, max(len(left), len(right)) + 1):
        names = "/".join(left[-count:]), "/".join(right[-count:])
        if names[0] != names[1]:
            return names
    return f"{one.name} (first)", f"{other.name} (second)"


def sentence(figures: Sequence[FigureDifference], names: tuple[str, str]) -> str:
    """The largest change of a communication time, and whether it is beyond chance."""
    times = [each for each in figures if each.name == COMMUNICATION and each.change is not None]
    if not figures:
        return f"No policy is in both {names[0]} and {names[1]}: there is nothing to compare."
    if all(each.one.mean == each.other.mean for each in figures):
        return f"{names[0]} and {names[1]} agree in every figure of every policy that both have."
    if not any(each.change for each in times):
        return (
            f"Communication takes as long in {names[1]} as in {names[0]} under every policy that both have."
        )
    most = max(times, key=lambda each: abs(each.change or 0.0))
    verb = "more" if (most.change or 0.0) > 0 else "less"
    beyond = {
        True: "; that is beyond the confidence intervals",
        False: "; that is within the confidence intervals",
        None: "; with one iteration there is no interval to judge that by",
    }[most.beyond]
    return (
        f"{most.policy} changes most: it communicates for {time_text(most.other.mean)} in {names[1]} and "
        f"{time_text(most.one.mean)} in {names[0]}, {share_text(abs(most.change or 0.0))} {verb}{beyond}."
    )


def assumptions(one: Results, other: Results, names: tuple[str, str]) -> tuple[str, ...]:
    """Those of both, then each run's own."""
    left, right = one.manifest["assumptions"], other.manifest["assumptions"]
    return (
        *(line for line in left if line in right),
        *(f"In {names[0]}: {line}" for line in left if line not in right),
        *(f"In {names[1]}: {line}" for line in right if line not in left),
    )


def configuration_blocks(keys: Sequence[KeyDifference], names: tuple[str, str]) -> tuple[Block, ...]:
    """A row for each key that differs."""
    if not keys:
        return (Prose(("Nothing: both runs have the same topology, workload and experiment.",)),)
    return (
        Table(
            caption="Keys of topology, workload and experiment that differ; - is a key that a run has not",
            headings=tuple(Heading(text, numeric=False) for text in ("key", *names)),
            rows=tuple(tuple(Cell(text, text) for text in (each.key, each.one, each.other)) for each in keys),
        ),
    )


def figure_blocks(
    figures: Sequence[FigureDifference], one: Results, other: Results, names: tuple[str, str]
) -> tuple[Block, ...]:
    """Communication as a picture, then every figure of every policy."""
    alone = [
        f"Only {name} has {', '.join(policies)}."
        for name, policies in zip(names, policies_alone(one, other), strict=True)
        if policies
    ]
    said: tuple[Block, ...] = (Prose(tuple(alone)),) if alone else ()
    if not figures:
        return said
    times = [each for each in figures if each.name == COMMUNICATION]
    pictures = Gallery((times_picture("communication", "Which run communicates faster?", times, names),))
    table = difference_table("Every figure of every policy that both runs have", "figure", figures, names)
    return (*said, pictures, table)


def policies_alone(one: Results, other: Results) -> tuple[list[str], list[str]]:
    """Policies that only the one, and only the other run has."""
    return (
        [policy for policy in one.policies if policy not in other.policies],
        [policy for policy in other.policies if policy not in one.policies],
    )


def phase_blocks(phases: Sequence[FigureDifference], names: tuple[str, str]) -> tuple[Block, ...]:
    """Transfer times of all phases, as a picture and a table."""
    if not phases:
        return ()
    table = difference_table("Transfer time of each phase, means over the iterations", "phase", phases, names)
    return (times_picture("phases", "Which phases changed?", phases, names), table)


def difference_table(
    caption: str, what: str, differences: Sequence[FigureDifference], names: tuple[str, str]
) -> Table:
    """Both values side by side, the difference in percent, and whether it is beyond the intervals."""
    scales = {each.kind: scale_of(each.kind, differences) for each in differences}

    def row(each: FigureDifference) -> tuple[Cell, ...]:
        scale, beyond = scales[each.kind], each.beyond
        return (
            Cell(each.policy, each.policy),
            Cell(each.name, each.name),
            *(Cell(value_text(own.mean, own.half_width, scale), own.mean) for own in (each.one, each.other)),
            Cell(change_text(each.change), each.change, tone(each)),
            Cell(BEYOND[beyond], None if beyond is None else BEYOND[beyond]),
        )

    return Table(
        caption=caption,
        headings=(
            Heading("policy", numeric=False),
            Heading(what, numeric=False),
            *(Heading(name) for name in names),
            Heading("difference"),
            Heading("beyond the intervals", numeric=False),
        ),
        rows=tuple(row(each) for each in differences),
        note=ABOUT_INTERVALS,
    )


def scale_of(kind: Kind, differences: Sequence[FigureDifference]) -> Scale | None:
    """The unit of all figures of a kind; None for what has none."""
    values = [own.mean for each in differences if each.kind == kind for own in (each.one, each.other)]
    if kind == "time":
        return time_scale(values)
    return byte_scale(values) if kind in ("traffic", "memory") else None


def value_text(mean: float | None, half_width: float | None, scale: Scale | None) -> str:
    """'16.45 ± 0.02 ms'."""
    if mean is None:
        return MISSING
    if scale is None:
        return factor_text(mean)
    spread = f" ± {scale.text(half_width)}" if half_width else ""
    return f"{scale.text(mean)}{spread} {scale.unit}"


def change_text(change: float | None) -> str:
    """'+3.1 %' with its sign; nothing changed has none."""
    if not change:
        return MISSING if change is None else share_text(0.0)
    text = share_text(change)
    return f"+{text}" if change > 0 and not text.startswith("0.0 ") else text


def tone(each: FigureDifference) -> Tone:
    """Less is better, of every figure here; a change within its interval is neither."""
    if not each.change or not each.beyond:
        return ""
    return "better" if each.change < 0 else "worse"


def times_picture(
    name: str, question: str, times: Sequence[FigureDifference], names: tuple[str, str]
) -> Picture:
    """Two bars for each time, grouped by policy."""
    scale = time_scale([max(own.mean or 0.0 for each in times for own in (each.one, each.other))])
    policies = dict.fromkeys(each.policy for each in times)
    groups = tuple(
        Group(policy, tuple(bar for each in times if each.policy == policy for bar in pair(each, names)))
        for policy in policies
    )
    chart = BarChart(groups, scale, f"{scale.unit}, mean an iteration", order=names, columns=2)
    changed = [each for each in times if each.change]
    most = max(changed, key=lambda each: abs(each.change or 0.0), default=None)
    found = (
        "Nothing changed."
        if most is None
        else f"Under {most.policy} {most.name} changes most: {change_text(most.change)}."
    )
    return bar_picture(name, question, chart, found, ABOUT_BARS)


def pair(each: FigureDifference, names: tuple[str, str]) -> tuple[Bar, Bar]:
    """The bar of the first run above that of the second, which tells the difference."""
    label = "" if each.name == COMMUNICATION else each.name.replace("_", " ")
    what = f"{each.name.replace('_', ' ')} in "
    one, other = each.one.mean or 0.0, each.other.mean or 0.0
    return (
        Bar(label, (Part(names[0], one, BLUE, what + names[0]),), time_text(one)),
        Bar(
            "",
            (Part(names[1], other, ORANGE, what + names[1]),),
            f"{time_text(other)} ({change_text(each.change)})",
        ),
    )


def details(one: Results, other: Results, names: tuple[str, str]) -> tuple[Fold, ...]:
    """Where each run comes from, and its whole configuration."""
    folds: list[Fold] = []
    for name, results in zip(names, (one, other), strict=True):
        own = (
            *configuration_folds(results.configuration),
            Fold("Provenance", (provenance_terms(results.manifest),)),
        )
        folds += (Fold(f"{name}: {fold.summary}", fold.blocks) for fold in own)
    return tuple(folds)
