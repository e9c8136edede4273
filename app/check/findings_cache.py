"""Cache of findings, keyed by content: a lesson that is unchanged is not proved again.

The key is of everything that an answer depends on: the text, what it reaches in other lessons, and the sources and
libraries that judge it. Every entry can be had again, so a lost or damaged file is a miss.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from app.check.findings import Finding
from app.content.blocks import NOWHERE, Lesson, SourceLocation, Table, Train
from app.engine.grader_version import JUDGES, sources_digest

PROVERS = (*JUDGES, "check", "course", "kinds", "web/pictures")
"""What decides what is found in a lesson: rooms and single files."""
FOR_NOW = frozenset({"not-proved"})
"""Codes of findings that say something of this moment and not of the lesson."""
MAX_CACHED_LESSONS = 2000


class FindingsCache:
    """Findings by lesson, in *folder*.

    Args:
        about: What else they depend on, such as whether mutants were tried.
    """

    def __init__(self, folder: Path, *about: object) -> None:
        self._folder = folder
        self._about = about

    def of(self, lesson: Lesson, reach: Iterable[Lesson]) -> list[Finding] | None:
        """Return the stored findings of *lesson* with this *reach*; None if it has to be proved."""
        try:
            rows = json.loads(self._file(lesson, reach).read_text("utf-8"))
            return [
                Finding(SourceLocation(lesson.place.path, *position), level, code, message)
                for position, level, code, message in rows
            ]
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, lesson: Lesson, reach: Iterable[Lesson], findings: Iterable[Finding]) -> None:
        findings = [finding for finding in findings if finding.place.path == lesson.place.path]
        if any(finding.code in FOR_NOW for finding in findings):
            return
        rows = [
            [[finding.place.line, finding.place.column], finding.level, finding.code, finding.message]
            for finding in findings
        ]
        file = self._file(lesson, reach)
        part = file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(rows), "utf-8")
            part.replace(file)
            self._trim()

    def _trim(self) -> None:
        files = sorted(self._folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[MAX_CACHED_LESSONS:]:
            file.unlink(missing_ok=True)

    def _file(self, lesson: Lesson, reach: Iterable[Lesson]) -> Path:
        programs = sorted(
            repr(replace(program, place=NOWHERE)) for program in lesson.forwards.values()
        )  # also of others
        contents = json.dumps([edition(), list(self._about), lesson_texts(lesson, reach), programs])
        return self._folder / f"{sha256(contents.encode()).hexdigest()}.json"


def lessons_used(lesson: Lesson, others: Iterable[Lesson]) -> list[Lesson]:
    """Those of the *others* that *lesson* names, whose boxes and programs it may use."""
    return [item for item in others if item is not lesson and f"{item.name}#" in lesson.source]


def lesson_texts(lesson: Lesson, reach: Iterable[Lesson]) -> list[object]:
    """All that findings in *lesson* depend on in lessons: its text and data, and those it uses in its *reach*."""
    texts = sorted((item.source, *map(_data, _tables(item))) for item in reach)
    return [lesson.source, dict(lesson.macros), *map(_data, _tables(lesson)), texts]


def _tables(lesson: Lesson) -> Iterator[Table]:
    return (train.table for train in lesson.all_of(Train) if train.table)


def _data(table: Table) -> str:
    return json.dumps([table.contexts, table.targets])


def edition() -> list[str]:
    """Changes whenever the same lesson could be judged in another way."""
    return [sources_digest(PROVERS).hex(), version("torch"), version("numpy")]
