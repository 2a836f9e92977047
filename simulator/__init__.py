"""Simulates the communication of a training cluster under embedding sharding policies.

The functions below are those of `simulator.api`; they and what they need are imported when first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.api import (
        compare,
        explain,
        load_topology,
        load_workload,
        plan,
        replan,
        run_file,
        simulate,
        sweep,
        sweep_file,
        write_report,
    )

__all__ = [
    "compare",
    "explain",
    "load_topology",
    "load_workload",
    "plan",
    "replan",
    "run_file",
    "simulate",
    "sweep",
    "sweep_file",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from simulator import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
