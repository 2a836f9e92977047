"""One random generator for each named purpose, so that drawing more of one thing never changes another."""

import zlib

import numpy as np


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """A generator that depends on `seed`, `purpose` and `indices` (non-negative) alone, on any machine."""
    key = (zlib.crc32(purpose.encode()), *indices)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
