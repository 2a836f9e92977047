"""Writes terms as the keys of a topology file, with their errors as comments."""

from collections.abc import Sequence

import yaml

from simulator.calibrate.terms import Terms, tier_keys


def fragment(device: str, terms: Terms, errors: Sequence[str]) -> str:
    """YAML that stands in a topology file beside `islands` and the like. Bandwidths are effective ones, a NIC's
    that of one GPU, so `efficiency` stays at its default of 1. Latencies are assumed."""
    tiers = {"scale_up": terms.scale_up, "scale_out": terms.scale_out}
    keys = {name: tier_keys(tier, terms.startup) for name, tier in tiers.items() if tier}
    comments = [
        f"# {device or 'one device'}: what all-to-alls reached, so efficiency is 1; latency is assumed"
    ]
    comments += [f"#   {error}" for error in errors]
    body = yaml.safe_dump(keys, sort_keys=False, default_flow_style=None, width=120)
    return "\n".join(comments) + "\n" + body
