"""Sweeps: many points over a few keys, on several processes, into one CSV."""
