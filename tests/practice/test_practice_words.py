"""Whoever looks at what is due reads words, and no row of a table."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from app.grading.operations.table import EXERCISES, FAMILIES
from app.practice.practice_words import FURTHER, SLIPS, slip_words
from app.practice.scheduler import UNNAMED, slip_of
from app.practice.taught import family_at
from tests.grading.boxes.load import make_forward

DIAGNOSIS = Path(__file__).parents[2] / "app/grading/diagnosis"


def rows() -> Iterator[str]:
    """Every row that a diagnosis can have: of the phrases, and of the tables in the heads of the families."""
    tables = tomllib.loads((DIAGNOSIS / "phrases.toml").read_text())
    for table in (tables["RULE"], tables["LINE"], *tables["SLIPS"].values()):
        yield from (code for code, *_ in table.values())
    for module in DIAGNOSIS.glob("*.py"):
        for cell in re.findall(r"^\| (`[a-z].*?`) \|", module.read_text(), re.MULTILINE):
            yield from re.findall(r"`([a-z-]+)", cell)
    for operation in EXERCISES:
        yield from operation.shows


def test_every_slip_that_opens_a_card_has_words() -> None:
    assert {slip_of(f"dx:{row}") for row in rows()} - UNNAMED - SLIPS.keys() - FURTHER.keys() == set()


def test_a_family_is_not_called_read_twice_where_one_line_reads_it() -> None:
    program = make_forward("mask", "N: 5", "x: [N]; m: [N]", "y", "y = x * m")

    assert FAMILIES[family_at(program, "x", "wrong-upstream") or ""].title == "Entry by entry, and tensors read twice"


def test_a_mistake_that_a_lesson_numbers_is_told_without_its_number() -> None:
    assert slip_words("declared-2") == "a mistake that the lesson names"
