"""The Pareto front: points that no other point beats in one thing without losing in another."""

from collections.abc import Sequence


def front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """Indices of the points that are on the front, ascending; lower is better in every coordinate.

    Equal points are on the front together.
    """
    order = sorted(range(len(points)), key=lambda index: points[index])
    kept: list[int] = []
    for index in order:
        if not any(_beats(points[other], points[index]) for other in kept):
            kept.append(index)
    return sorted(kept)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Nowhere worse, and better somewhere."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
