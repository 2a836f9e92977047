"""Which test holds which of the practitioners' cases: what a user sees, and what it rests on.

| case | as a user sees it | underneath |
|---|---|---|
| 1 rows that do not divide | test_results_shapes.py | test_cases_sharding.py |
| 2 tables of nothing, odd dimensions | test_results_shapes.py | test_cases_sharding.py, test_cases_traffic.py |
| 3 billions of rows | test_results_shapes.py | test_cases_sharding.py |
| 4 sizes that contradict or are odd | test_results_shapes.py | test_cases_topology.py |
| 5 one GPU, one island | test_results_shapes.py | test_cases_one_gpu.py, test_cases_engine.py, test_cases_traffic.py |
| 6 plans with gaps, lookups that add up | test_results_shapes.py | test_cases_sharding.py, test_cases_traffic.py |
| 7 what does not fit, a budget of nothing | test_results_shapes.py | test_cases_sharding.py |
| 8 one hot row | test_results_traffic.py | test_cases_traffic.py, test_network_cases.py |
| 9 nothing to send | test_results_traffic.py | test_cases_engine.py, test_cases_traffic.py, test_network_cases.py |
| 10 seven slots | test_results_traffic.py | test_network_cases.py |
| 11 fewer NICs, rails | test_results_traffic.py | test_cases_topology.py, test_network_cases.py |
| 12 self-traffic | test_results_traffic.py | test_cases_traffic.py, test_network_cases.py |
| 13 half a bandwidth | test_results_traffic.py | test_network_cases.py, ../property/test_metamorphic_times.py |
| 14 a late rank | test_results_traffic.py | test_cases_engine.py |
| 15 links that slow or fail | test_results_traffic.py | test_cases_engine.py, test_network_cases.py |
| 16 spellings of a rate | test_results_texts.py | test_cases_text.py |
| 17 counts | test_results_texts.py | test_cases_text.py |
| 18 booleans | test_results_texts.py | test_cases_text.py |
| 19 ratios | test_results_texts.py | test_cases_text.py |
| 20 texts that are no file of ours | test_results_texts.py | test_cases_text.py, ../corpus/topologies.yaml |
| 21 numbers that make no sense | test_results_texts.py | test_cases_text.py, ../corpus/topologies.yaml |
| 22 exponents | test_results_texts.py | test_cases_draws.py |
| 23 ids outside the table | test_results_texts.py | test_cases_draws.py |
| 24 declared formats | test_results_texts.py | test_cases_draws.py |
| 25 the same bytes | test_results_running.py | ../cli/test_cli.py, ../unit/test_sweep_workers.py |
| 26 a skipped collective | test_results_running.py | test_cases_engine.py |
| 27 kills | ../cli/test_kill.py | ../unit/test_checkpoint.py |
| 28 what cannot be written or read | test_results_running.py | ../cli/test_kill.py, ../cli/test_cli.py |
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
ROW = re.compile(r"\| (\d+) [^|]+\| ([^|]+) \| ([^|]+) \|")
ROWS = {int(number): (seen, below) for number, seen, below in ROW.findall(__doc__ or "")}


def test_every_case_stands_in_the_table() -> None:
    assert sorted(ROWS) == list(range(1, 29))


def test_files_of_the_table_are_there() -> None:
    for seen, below in ROWS.values():
        for name in [seen, *below.split(", ")]:
            assert (FOLDER / name).is_file(), name


def test_what_a_user_sees_of_a_case_is_tested_under_its_number() -> None:
    for number, (seen, _) in ROWS.items():
        if seen.startswith("test_results_"):
            assert f"def test_case_{number:02}_" in (FOLDER / seen).read_text(encoding="utf-8"), number


def test_no_numbered_test_is_left_out() -> None:
    for file in FOLDER.glob("test_results_*.py"):
        for number in re.findall(r"def test_case_(\d\d)_", file.read_text(encoding="utf-8")):
            assert ROWS[int(number)][0] == file.name
