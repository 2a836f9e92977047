"""How long the network takes, and how near its approximations are: `python -m benchmarks`."""
