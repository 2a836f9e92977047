"""Reads a file of measurements: a CSV when its name ends in .csv, else what nccl-tests printed."""

from pathlib import Path

from simulator.calibrate.measurement import Measurement
from simulator.calibrate.nccl_log import parse_log
from simulator.calibrate.table import parse_table
from simulator.files import read_text


def read_log(path: Path) -> list[Measurement]:
    """Measurements in the order of the file, without those of 0 bytes. UserError, with the line if there is one."""
    parse = parse_table if path.suffix == ".csv" else parse_log
    return [measurement for measurement in parse(read_text(path), path) if measurement.bytes]
