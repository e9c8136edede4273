"""What `check` found, and how it is printed: for people, for programs, for GitHub."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from app.content.blocks import Place
from app.content.errors import LessonError
from app.engine.grade.outcomes import grader_fault
from app.engine.pool.asking import BUSY, FAULT, STOPPED
from app.grading.forward.facts import Outcome

Level = Literal["error", "warning", "notice"]
Format = Literal["text", "json", "github"]

UNANSWERED: frozenset[Outcome] = frozenset({"fault", "busy"})
"""Outcomes that say nothing about the code that was sent."""

OURS = re.compile(r" (?:That is )?[Oo]ur fault, not yours[^.]*\.(?: Please try again\.)?")
NO_ANSWER = {
    FAULT: "the grader stopped before it had an answer. The log says more; try again.",
    BUSY: "no grader was free in time. Try again when the machine is less busy.",
    STOPPED: "the graders were told to stop.",
    grader_fault().message: "the grader stumbled. The log says more.",
}
"""What a learner is told where there is no answer at all, and what an author is told instead."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `check` has to say. Only errors make a course fail."""

    place: Place
    level: Level
    code: str
    message: str


def not_proved(place: Place, message: str) -> Finding:
    """Nothing is known of what stands at *place*; *message* is what a learner would be told."""
    return Finding(place, "error", "not-proved", f"This was not proved: {NO_ANSWER.get(message, to_author(message))}")


def to_author(message: str) -> str:
    """*message* without what comforts a learner: an author is told what to mend."""
    return OURS.sub("", message).rstrip()


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By file, line and column."""
    return tuple(sorted(findings, key=lambda one: (one.place.path, one.place.line, one.place.column)))


def of_errors(errors: Iterable[LessonError]) -> list[Finding]:
    """Faults of the parser as findings."""
    return [Finding(one.place, "error", one.code, f"{one.message} {one.fix}".rstrip()) for one in errors]


def _text(finding: Finding) -> str:
    level = "" if finding.level == "error" else f"{finding.level}: "
    return f"{finding.place}: {finding.code} {level}{finding.message}"


def _json(finding: Finding) -> str:
    place = finding.place
    where = {"file": place.path, "line": place.line, "column": place.column}
    return json.dumps({**where, "level": finding.level, "code": finding.code, "message": finding.message})


def _github(finding: Finding) -> str:
    place = finding.place
    where = f"file={_property(place.path)},line={place.line},col={place.column},title={_property(finding.code)}"
    return f"::{finding.level} {where}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


LINE: dict[Format, Callable[[Finding], str]] = {"text": _text, "json": _json, "github": _github}
