"""One all-to-all for a person: what it took, what bounds it, and what nccl-tests would call it."""

from typing import TYPE_CHECKING

from simulator.units import format_bandwidth, format_duration

if TYPE_CHECKING:
    from simulator.collectives.all_to_all_run import AllToAllFigures


def all_to_all_text(result: "AllToAllFigures") -> str:
    """Lines of name and figure; "n/a" where nothing moves or pairs differ."""
    last_rank = int(result.rank_finish_s.argmax())
    first_s, last_s = float(result.rank_finish_s.min()), float(result.rank_finish_s.max())
    over_bound = f" ({result.time_s / result.bound_s:.3f} times the bound)" if result.bound_s else ""
    first, last = format_duration(first_s), format_duration(last_s)
    lines = {
        "time": format_duration(result.time_s) + over_bound,
        "port bound": f"{format_duration(result.bound_s)} at {result.bottleneck}",
        "ranks": f"first done after {first}, last (rank {last_rank}) after {last}",
        "algbw": bandwidth_text(result.algbw_bytes_per_s),
        "busbw": bandwidth_text(result.busbw_bytes_per_s),
        "flows": f"{result.flow_count:,} in {result.solves:,} solves",
    }
    return "\n".join(f"{name:11}{text}" for name, text in lines.items())


def bandwidth_text(bandwidth_bytes_per_s: float | None) -> str:
    return "n/a" if bandwidth_bytes_per_s is None else format_bandwidth(bandwidth_bytes_per_s)
