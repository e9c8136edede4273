"""`backhand check`: parse a course and prove it."""

import asyncio
import sys
from pathlib import Path

import typer

from app.check.bounded_grader import Patient
from app.check.findings import LINE, Finding, Format, in_order, of_errors
from app.check.prove import prove
from app.check.prove_beginning import prove_beginning
from app.cli import environment
from app.cli.graders import settled
from app.cli.refuse import refuse
from app.content.blocks import Lesson
from app.content.errors import LessonError
from app.content.lessons import read_lessons
from app.engine.pool.local_graders import LocalGraders
from app.settings import Settings


def check(paths: list[Path] | None, form: Format, *, mutants: bool) -> None:
    """Print every finding, and end with what was counted."""
    settings = environment.settings()
    lessons: list[Lesson] = []
    findings: list[Finding] = []
    for path in paths or [settings.lessons]:
        read, found = _read(path)
        lessons += read
        findings += of_errors(found)
        findings += prove_beginning(read) if any(path.glob("*/unit.md")) else []
    # A file that does not parse is reported with its place; what does parse is proved all the same.
    if lessons:
        findings += asyncio.run(_prove(lessons, settings, mutate=mutants))
    for finding in in_order(findings):
        typer.echo(LINE[form](finding))
    errors = sum(finding.level == "error" for finding in findings)
    if form == "text":
        exercises = sum(len(one.exercises) for one in lessons)
        typer.echo(
            ", ".join((_counted(len(lessons), "lesson"), _counted(exercises, "exercise"), _counted(errors, "error")))
        )
    sys.exit(1 if errors else 0)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _read(path: Path) -> tuple[tuple[Lesson, ...], tuple[LessonError, ...]]:
    if path.name == "unit.md":
        refuse(f"{path} is no lesson but the page of a unit. Check its folder: {path.parent}.")
    try:
        return read_lessons(path)
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}. Give a lesson file, a unit or a course folder.")


async def _prove(lessons: list[Lesson], settings: Settings, *, mutate: bool) -> tuple[Finding, ...]:
    async with settled(LocalGraders(settings, keep_facts=False)) as graders:
        if graders.readiness.state != "ready":
            refuse(f"Nothing was proved. {graders.readiness.reason}")
        return await prove(lessons, Patient(graders), mutate=mutate)
