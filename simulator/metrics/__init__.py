"""Figures of an iteration, a policy and a comparison."""
