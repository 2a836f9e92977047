"""Reads measurements of collectives and fits the terms of a topology to them."""
