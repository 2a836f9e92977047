"""Simulates the communication of a training cluster under embedding sharding policies.

The functions below are those of `simulator.api` and `simulator.api_single`; they and what they need are imported when
first used.
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
    from simulator.api_single import all_to_all, fit_terms, profile

__all__ = [
    "all_to_all",
    "compare",
    "explain",
    "fit_terms",
    "load_topology",
    "load_workload",
    "plan",
    "profile",
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
    from simulator import api, api_single

    return getattr(api if hasattr(api, name) else api_single, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
