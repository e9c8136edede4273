"""What `check` says of lessons that are wrong on purpose, through the real path."""

import asyncio
import shutil
from pathlib import Path

import pytest

from app.check.findings import Finding
from app.check.patient import Patient
from app.check.prove import prove
from app.content.blocks import Lesson
from app.content.course import load_course
from app.content.parse import parse_lesson
from app.engine.local import LocalGraders
from app.settings import Settings

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = Path(__file__).resolve().parents[2]


def proved(lessons: list[Lesson], tmp_path: Path) -> tuple[Finding, ...]:
    async def main() -> tuple[Finding, ...]:
        async with LocalGraders(Settings(graders=2, data_dir=tmp_path)) as graders:
            return await prove(lessons, Patient(graders))

    return asyncio.run(main())


def read(path: Path) -> Lesson:
    lesson, errors = parse_lesson(path.read_text(encoding="utf-8"), path.name)
    assert lesson is not None, errors
    return lesson


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Finding, ...]:
    return proved([read(path) for path in sorted(FIXTURES.glob("*.md"))], tmp_path_factory.mktemp("facts"))


EXPECTED = [
    (path.name, number, line.split("expect:")[1].split("-->")[0].strip())
    for path in sorted(FIXTURES.glob("*.md"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    if "expect:" in line
]


@pytest.mark.parametrize(("file", "line", "code"), EXPECTED)
def test_every_fault_is_found_near_where_it_stands(
    findings: tuple[Finding, ...], file: str, line: int, code: str
) -> None:
    places = [one.place.line for one in findings if one.place.path == file and one.code == code]

    # The marker is a comment of the block that it speaks of.
    assert any(line - 20 <= place <= line + 30 for place in places), findings


def test_nothing_else_is_found(findings: tuple[Finding, ...]) -> None:
    found = sorted((one.place.path, one.code) for one in findings if one.level != "notice")

    assert found == sorted((file, code) for file, _, code in EXPECTED)


@pytest.mark.skipif(shutil.which("node") is None, reason="KaTeX runs in node, which is not installed here")
def test_a_formula_that_katex_cannot_read_is_found(tmp_path: Path) -> None:
    text = "---\ntitle: T\nid: t\nestimate: 1 min\n---\n\nA formula: $\\notacommand{x}$.\n"
    lesson, errors = parse_lesson(text, "t.md")
    assert lesson is not None, errors

    assert [one.code for one in proved([lesson], tmp_path)] == ["tex"]


def test_the_course_of_this_repository_is_proved(tmp_path: Path) -> None:
    findings = proved(list(load_course(ROOT / "lessons").lessons), tmp_path)

    assert [str(one) for one in findings if one.level != "notice"] == []
