"""Functions that numba compiles, kept on disk between runs where a folder for them can be written."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile `function` at its first call, or load what an earlier run compiled. Division by zero gives inf."""
    return _compiled(function, fastmath={"reassoc", "nnan", "nsz"})


def compiled_in_order(function: F) -> F:
    """`compiled`, each operation as it is written: bit for bit what numpy gives."""
    return _compiled(function, fastmath=False)


def _compiled(function: F, *, fastmath: set[str] | bool) -> F:
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": fastmath}
    try:
        machine_code: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written
        machine_code = numba.njit(**options)(function)
    return machine_code


class _Notice(event.Listener):
    """Says once that compiling takes a while; numba tells it of no function that it finds on disk."""

    said = False

    def on_start(self, event: event.Event) -> None:
        if not self.said:
            self.said = True
            print("compiling what this command needs (once) ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
