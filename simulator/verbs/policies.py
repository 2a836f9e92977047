"""`shardsim policies`: what there is to choose from."""


def policies() -> None:
    """List the sharding policies with their options."""
    from simulator.report.table import print_policies
    from simulator.sharding.registry import available

    print_policies(available())
