"""Policy entries from what they say of themselves, with some of it changed."""

from collections.abc import Mapping
from typing import Any

from simulator.sharding.registry import PolicyEntry, policy_named


def edited_entry(entry: PolicyEntry, changes: Mapping[str, Any]) -> PolicyEntry:
    """`entry` with some options or switches changed, under the same label. Raises UserError."""
    return PolicyEntry.parse({**entry_settings(entry.configuration()), **changes})


def entry_settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What a file would say to make an entry of this `PolicyEntry.configuration()`; defaults are left out."""
    model = policy_named(configuration["name"]).options
    required = {key for key, field in model.model_fields.items() if field.is_required()}
    unset = model.model_construct(**dict.fromkeys(required))
    defaults = unset.model_dump(mode="json", exclude=required)
    options = {
        key: value
        for key, value in configuration["options"].items()
        if key in required or value != defaults.get(key)
    }
    return {
        "name": configuration["name"],
        "label": configuration["label"],
        **configuration["switches"],
        **options,
    }
