"""Kinds of row popularity, one file each."""
