"""Findings of `check`, and how they are printed: for people, for programs, for GitHub."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from app.content.blocks import SourceLocation
from app.content.text.errors import LessonError

Level = Literal["error", "warning", "notice"]
Format = Literal["text", "json", "github"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `check` has to say. Only errors make a course fail."""

    place: SourceLocation
    level: Level
    code: str
    message: str


def has_errors(findings: Iterable[Finding]) -> bool:
    """True if one of *findings* makes a course fail."""
    return any(finding.level == "error" for finding in findings)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By file, line and column."""
    return tuple(sorted(findings, key=lambda finding: (finding.place.path, finding.place.line, finding.place.column)))


def of_errors(errors: Iterable[LessonError]) -> list[Finding]:
    """Faults of the parser as findings."""
    return [Finding(error.place, "error", error.code, f"{error.message} {error.fix}".rstrip()) for error in errors]


def _text(finding: Finding) -> str:
    level = "" if finding.level == "error" else f"{finding.level}: "
    return f"{finding.place}: {finding.code} {level}{finding.message}"


def _json(finding: Finding) -> str:
    place = finding.place
    where = {"file": place.path, "line": place.line, "column": place.column}
    return json.dumps({**where, "level": finding.level, "code": finding.code, "message": finding.message})


def _github(finding: Finding) -> str:
    place = finding.place
    line = f"line={place.line},col={place.column}," if place.line else ""
    where = f"file={_property(place.path)},{line}title={_property(finding.code)}"
    return f"::{finding.level} {where}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


LINE_FORMATS: dict[Format, Callable[[Finding], str]] = {"text": _text, "json": _json, "github": _github}
