"""What `check` says of lessons that are wrong on purpose, through the real path."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from app.check.bounded_grader import RetryingGrader
from app.check.findings import Finding
from app.content.blocks import Lesson
from app.course.parse import parse_lesson
from app.course.prove import prove_lessons
from tests.graders import SharedGraders

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = Path(__file__).resolve().parents[2]


def proved(
    lessons: Sequence[Lesson], graders: SharedGraders, *, mutate: bool = True, reach: Sequence[Lesson] = ()
) -> tuple[Finding, ...]:
    return asyncio.run(prove_lessons(lessons, RetryingGrader(graders), mutate=mutate, reach=reach))


def read(path: Path) -> Lesson:
    lesson, errors = parse_lesson(path.read_text(encoding="utf-8"), path.name)
    assert lesson is not None, errors
    return lesson


@pytest.fixture(scope="module")
def findings(graders: SharedGraders) -> tuple[Finding, ...]:
    return proved([read(path) for path in sorted(FIXTURES.glob("*.md"))], graders)


def expected(path: Path) -> Iterator[tuple[str, range, list[str]]]:
    """A marker speaks of what follows it, as far as the next one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    markers = [number for number, line in enumerate(lines, start=1) if "expect:" in line]
    for start, end in pairwise([*markers, len(lines) + 1]):
        yield path.name, range(start, end), lines[start - 1].split("expect:")[1].split("`")[0].split()


EXPECTED = [one for path in sorted(FIXTURES.glob("*.md")) for one in expected(path)]


@pytest.mark.parametrize(("file", "lines", "codes"), EXPECTED, ids=str)
def test_every_fault_is_found_where_it_stands_and_nothing_else(
    findings: tuple[Finding, ...], file: str, lines: range, codes: list[str]
) -> None:
    found = [one for one in findings if one.place.path == file and one.place.line in lines]

    assert [one.code for one in found] == codes, found


def test_what_stands_above_the_first_marker_is_sound(findings: tuple[Finding, ...]) -> None:
    first = {file: lines.start for file, lines, _ in reversed(EXPECTED)}

    assert [one for one in findings if one.place.line < first[one.place.path]] == []


def found_in(findings: tuple[Finding, ...], code: str) -> list[Finding]:
    return [one for one in findings if one.code == code]


def test_two_mistakes_that_collide_name_each_other(findings: tuple[Finding, ...]) -> None:
    collision, _ = found_in(findings, "mistakes-collide")

    lines = (FIXTURES / "faults.md").read_text(encoding="utf-8").splitlines()
    assert "Do not add it to itself" in lines[collision.place.line - 1]
    assert f"on line {lines.index('```{mistake} Each factor once.') + 1}," in collision.message


def test_a_vacuous_gradient_is_a_notice_that_names_it(findings: tuple[Finding, ...]) -> None:
    *_, last = found_in(findings, "vacuous")

    assert last.level == "notice"
    assert "For this loss `dm` is zero up to rounding" in last.message


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("The solution ends in error: These shapes cannot be multiplied", "dX = W @ dY"),
        ("The solution ends in timeout: The code was stopped after 0.3 s", "dX = dY @ W.T"),
        ("The solution does not pass. dX is wrong: In `dX = 4 * dY @ W.T`", "dX = 4 * dY @ W.T"),
    ],
)
def test_a_solution_that_fails_is_shown_at_its_line_with_its_reason(
    findings: tuple[Finding, ...], start: str, line: str
) -> None:
    (found,) = (one for one in found_in(findings, "solution-fails") if one.message.startswith(start))

    assert (FIXTURES / "faults.md").read_text(encoding="utf-8").splitlines()[found.place.line - 1] == line
    assert "is right" not in found.message


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("broken", "Y = X @ V"),
        ("broken-inside", "K = X @ H"),
        ("undefined", "u = torch.log(t)"),
        ("constant", "c = torch.ones(N)"),
        ("dropped", "k = F.dropout(h, 0.5)"),
        ("noisy", "h = x + torch.randn(N)"),
        ("layered", "h = torch.nn.Linear(D, 5)(x)"),
    ],
)
def test_a_forward_program_that_fails_is_shown_at_the_line_that_does(
    findings: tuple[Finding, ...], name: str, line: str
) -> None:
    (found,) = (one for one in found_in(findings, "forward-fails") if f"{name!r}" in one.message)

    assert (FIXTURES / "faults.md").read_text(encoding="utf-8").splitlines()[found.place.line - 1] == line


def test_a_program_that_draws_random_numbers_is_told_so(findings: tuple[Finding, ...]) -> None:
    said = [one.message for one in found_in(findings, "forward-fails") if "draws random numbers" in one.message]

    assert ["`k = F.dropout(h, 0.5)`" in said[0], "`h = x + torch.randn(N)`" in said[1]] == [True, True]


def test_a_layer_with_weights_of_its_own_is_told_what_to_write_instead(findings: tuple[Finding, ...]) -> None:
    (said,) = (one.message for one in found_in(findings, "forward-fails") if "'layered'" in one.message)

    assert "`h = torch.nn.Linear(D, 5)(x)` makes a layer, whose weights are drawn anew each time" in said
    assert said.endswith("Take them as inputs, such as `W: [D, H]` and `b: [H]`, and write `X @ W + b`.")


def test_a_mutant_that_passes_is_shown_with_its_edit(findings: tuple[Finding, ...]) -> None:
    mutants = {one.message for one in found_in(findings, "mutant-passes")}

    assert any("(flipped the sign): `dx = -(dy * 0.0)`" in one for one in mutants)
