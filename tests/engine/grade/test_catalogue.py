"""Every mistake of the catalogue as a learner would write it, through the real jail: its code and its sentence."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from app.course.parse import parse_lesson
from app.engine.task import task_of
from app.grading.judge.parsed_submission import parse_submission
from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import load

HERE = Path(__file__).parents[1]
ROWS_OF_THE_CATALOGUE = 57
BOXES = {box.name: box for box in load(HERE / "catalogue.toml")}
QUIET = {*RIGHT, "follows", "not-yet"}


@dataclass(frozen=True)
class Row:
    number: int
    program: str
    lines: str
    code: str
    words: tuple[str, ...]

    def __str__(self):
        return f"{self.number} {self.code}"


def rows():
    for line in (HERE / "catalogue.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if cells[0].isdigit():
            number, program, lines, code = cells[:4]
            words = tuple(cells[4].strip("| ").split(" · ")) if len(cells) > 4 else ()
            yield Row(int(number), program, lines.strip("`").replace(" ;; ", "\n"), code.strip("`"), words)


ROWS = tuple(rows())
CHECKS, _ = parse_lesson((HERE / "checks.md").read_text(encoding="utf-8"), "checks.md")


def submission(row):
    """The right lines of the program with those of *row* in the place of the ones that write the same names."""
    box = BOXES[row.program]
    own = parse_submission(row.lines).last
    at_fault = row.code.split(":")[0].split(" ")[-1]
    gone = {name for name in (*own, at_fault) if name in box.require}
    body = ast.parse(box.solution).body
    plan = parse_submission(box.solution)
    kept = [(line.writes, ast.unparse(node)) for line, node in zip(plan.lines, body, strict=True)]
    first = min(at for at, (writes, _) in enumerate(kept) if writes & gone)
    before = [text for at, (writes, text) in enumerate(kept) if at < first]
    after = [text for at, (writes, text) in enumerate(kept) if at >= first and not writes & gone]
    return "\n".join([*before, row.lines, *after])


@cache
def verdict_of(engine, row):
    if row.program == "check":
        return engine.check(task_of(CHECKS, CHECKS.exercise("cmp")), row.lines)
    return engine.check(BOXES[row.program].task(grade="value"), submission(row))


@pytest.mark.parametrize("name", BOXES)
def test_the_solution_of_each_program_passes(jailed, name):
    assert jailed.check(BOXES[name].task(grade="value"), BOXES[name].solution).passed


@pytest.mark.in_turn
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_mistake_has_its_code_and_its_sentence(jailed, row):
    verdict = verdict_of(jailed, row)

    said, _, name = row.code.partition(" ")
    if said in {"refused", "right", "not-yet"}:
        names = {one.name: one for one in verdict.names}
        assert (verdict.outcome == "refused") if said == "refused" else (names[name].verdict == said)
        told = verdict.message if said == "refused" else names[name].message
    else:
        faults = [one for one in verdict.names if one.verdict not in QUIET]
        assert [one.code for one in faults][:1] == [row.code], faults or verdict
        told = f"{faults[0].message} {verdict.message} line {verdict.line}"
    assert all(word in told for word in row.words), told


def test_every_row_of_the_catalogue_is_there():
    assert {row.number for row in ROWS} == set(range(1, ROWS_OF_THE_CATALOGUE + 1))


@pytest.mark.prove
def test_every_mistake_but_the_check_is_found_at_one_gradient(jailed):
    several = {}
    for row in ROWS:
        if ":" in row.code and row.program != "check":
            faults = [one.name for one in verdict_of(jailed, row).names if one.verdict not in QUIET]
            if len(faults) != 1:
                several[str(row)] = faults

    assert several == {}
