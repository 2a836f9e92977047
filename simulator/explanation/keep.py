"""Explanations kept in the results folder that they explain, where its page shows them."""

from collections.abc import Sequence
from pathlib import Path

from simulator.experiment.results import write_json
from simulator.explanation.explanation import PolicyExplanation
from simulator.report.build import build_report
from simulator.report.folder import explanation_name


def keep(folder: Path, found: Sequence[PolicyExplanation]) -> Path:
    """Write each policy's explanation with its elasticities, and the page again. The page's path.

    Raises UserError when the folder cannot be written.
    """
    for each in found:
        write_json(folder / explanation_name(each.policy), each.to_json())
    return build_report(folder)
