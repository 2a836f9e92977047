"""Programs of operations and their replay in SimPy."""
