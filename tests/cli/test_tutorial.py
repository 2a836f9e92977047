"""docs/tutorial/: every lesson has its parts, its pencilled sums are right and meet the outputs, its answers are true.

What the commands print is compared by test_docs. A block marked `pencil` holds sums, `2 * 250 MB / 10 GB/s = 50 ms`:
what stands right of the last `=` is rounded to the digits shown.
"""

import ast
import operator
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorial"
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")
LESSONS = sorted(FOLDER.glob("[0-9]_*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UNITS = {"GB/s": 1e9, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3}
UNIT = re.compile(r"(\)|[\d.]+) (" + "|".join(UNITS) + r")(?![\w/])")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
COLUMNS = 80


def blocks(page: Path, kind: str) -> list[str]:
    return [body for name, body in FENCE.findall(page.read_text(encoding="utf-8")) if name == kind]


def sums(page: Path) -> list[str]:
    return [line for body in blocks(page, "pencil") for line in body.splitlines()]


def value(text: str) -> float:
    """A sum of numbers with units, in SI units."""
    in_si = UNIT.sub(_in_si, text)
    return evaluate(ast.parse(in_si.strip(), mode="eval").body)


def _in_si(match: re.Match[str]) -> str:
    number, factor = match[1], UNITS[match[2]]
    return f")*{factor}" if number == ")" else f"({number}*{factor})"


def evaluate(node: ast.expr) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    assert isinstance(node, ast.BinOp), ast.dump(node)
    calculate = OPERATORS[type(node.op)]
    return float(calculate(evaluate(node.left), evaluate(node.right)))


def shown(text: str) -> tuple[float, float]:
    """A result as it is written, and half of its last digit, both in SI units."""
    number, _, unit = text.strip().partition(" ")
    scale = UNITS[unit] if unit else 1.0
    decimals = len(number.partition(".")[2])
    return float(number) * scale, 0.5 * 10**-decimals * scale


def test_there_are_six_lessons_and_the_index_lists_them() -> None:
    assert [int(page.name[0]) for page in LESSONS] == [1, 2, 3, 4, 5, 6]
    assert re.findall(r"\]\((\d_\w+\.md)\)", INDEX) == [page.name for page in LESSONS]


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_a_lesson_asks_shows_and_asks_back(page: Path) -> None:
    title, question, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith(f"# {page.name[0]}. ")
    assert re.fullmatch(r"\*\*[^*]+\?\*\*", question)
    assert blocks(page, "console")
    _, turn = page.read_text(encoding="utf-8").split("## Your turn")
    assert turn.count("<details><summary>Answer</summary>\n\n") == turn.count("\n\n</details>") == 1


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (FOLDER / target).exists()] == []


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_sums_are_right(page: Path) -> None:
    for line in sums(page):
        left, right = line.split(" = ")
        result, half_digit = shown(right)
        assert abs(value(left) - result) <= half_digit * (1 + 1e-9), line


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_sums_meet_what_commands_print(page: Path) -> None:
    printed = [float(number) for body in blocks(page, "console") for number in NUMBER.findall(body)]
    results = [line.split(" = ")[1].split()[0] for line in sums(page)]
    met = [text for text in results if any(abs(number - float(text)) <= shown(text)[1] for number in printed)]
    assert len(met) >= 3, met


@pytest.mark.parametrize("page", [FOLDER / "README.md", *LESSONS], ids=lambda page: page.stem)
def test_tables_fit_a_terminal(page: Path) -> None:
    lines = [line for body in blocks(page, "console") for line in body.splitlines()]
    wide = [line for line in lines if len(line) > COLUMNS and line[0] != "$" and "," not in line]
    assert wide == []


def test_every_input_is_used() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in LESSONS)
    inputs = [path for path in FOLDER.iterdir() if path.suffix in (".yaml", ".txt")]
    texts = pages + "".join(path.read_text(encoding="utf-8") for path in inputs)
    assert inputs
    assert [path.name for path in inputs if path.name not in texts] == []
