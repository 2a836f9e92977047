"""Ring collectives against a literal run of them: chunks are passed on step by step, contributions are tracked."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.collectives.ring import Pattern, Rings, side_by_side


def run_ring(order: list[int], chunk_bytes: list[int], pattern: Pattern) -> Counter[tuple[int, int]]:
    """Bytes on each edge. Ends with an assertion that every rank has what the pattern promises."""
    members = len(order)
    everybody = set(range(members))
    # whose contributions place p holds summed of chunk k
    holds = [[{place} if pattern != "all_gather" else set() for _ in order] for place in range(members)]
    if pattern == "all_gather":
        for place in range(members):
            holds[place][place] = set(everybody)
    carried: Counter[tuple[int, int]] = Counter()

    def step(shift: int, *, reduce: bool) -> None:
        passed = [(place, (place - shift) % members) for place in range(members)]
        payload = [set(holds[place][chunk]) for place, chunk in passed]
        for (place, chunk), contributions in zip(passed, payload, strict=True):
            successor = (place + 1) % members
            carried[order[place], order[successor]] += chunk_bytes[chunk]
            holds[successor][chunk] = holds[successor][chunk] | contributions if reduce else contributions

    if pattern != "all_gather":
        for time in range(members - 1):
            step(time + 1, reduce=True)
        assert all(holds[place][place] == everybody for place in range(members))
    if pattern != "reduce_scatter":
        for time in range(members - 1):
            step(time, reduce=False)
        assert all(holds[place][chunk] == everybody for place in range(members) for chunk in range(members))
    return carried


@st.composite
def drawn_ring(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    order = draw(st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True))
    chunks = draw(st.lists(st.integers(0, 2**40), min_size=len(order), max_size=len(order)))
    return order, chunks


@pytest.mark.parametrize("pattern", ["reduce_scatter", "all_gather", "all_reduce"])
@settings(deadline=None, max_examples=100)
@given(ring=drawn_ring())
def test_edges_carry_what_a_literal_run_passes(pattern: Pattern, ring: tuple[list[int], list[int]]) -> None:
    order, chunks = ring
    flows, steps = side_by_side([Rings(np.array([order]), np.array([chunks]))], pattern)
    carried = run_ring(order, chunks, pattern)
    expected = {edge: sent for edge, sent in carried.items() if sent and edge[0] != edge[1]}
    edges = zip(flows.sources.tolist(), flows.destinations.tolist(), strict=True)
    assert dict(zip(edges, flows.bytes.tolist(), strict=True)) == expected
    assert steps == (len(order) - 1) * (2 if pattern == "all_reduce" else 1)
