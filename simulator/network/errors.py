"""What can go wrong in the network by the user's doing."""

from collections.abc import Sequence

from simulator.errors import UserError

_RANKS_NAMED = 8


class StalledError(UserError):
    """Flows cross a resource that has failed and never returns."""


def stalled_error(resource: str, failed_s: float, waiting: Sequence[int], what: str = "") -> StalledError:
    """The error for a failed resource; `waiting` are the ranks whose flows cross it."""
    named = ", ".join(str(rank) for rank in waiting[:_RANKS_NAMED])
    more = f" and {len(waiting) - _RANKS_NAMED} more" if len(waiting) > _RANKS_NAMED else ""
    ranks = f"rank {named}" if len(waiting) == 1 else f"ranks {named}{more}"
    waits = "waits" if len(waiting) == 1 else "wait"
    of_what = f" in {what}" if what else ""
    return StalledError(
        f"{resource} failed at {failed_s:g} s and never returns: {ranks} {waits} for it{of_what}"
    )
