"""Fluid flows that share ports and links max-min fairly."""
