"""`backhand grade`: one submission, or a batch of them, through the same gate, jail and comparison as the web uses."""

import asyncio
import contextlib
import json
import math
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from app.cli import environment
from app.cli.graders import require_secret, started_graders
from app.cli.refuse import refuse, refuse_unreadable
from app.content.blocks import CodeBox, Lesson
from app.content.text.errors import LessonErrors
from app.course.course import load_lesson
from app.engine.grade.seeds import FILE, write_secret
from app.engine.pool.local_graders import LocalGraders
from app.engine.task import AnyTask, task_of
from app.grading.judge.verdict import NameVerdict, Verdict
from app.settings import Settings

MARKS = {"right": "✓", "right-other-road": "✓", "not-yet": "·", "follows": "↳"}


def grade(exercise: str, code: Path | None, *, batch: bool, as_json: bool, gate: bool, seed: int | None) -> None:
    """Print the verdict on one submission, or on each line of a batch.

    Args:
        seed: Of the hidden numbers; None for the secret of the server here, or a fresh one.
    """
    if batch == (code is not None):
        refuse("Give either a CODE.py or --batch.")
    task = _task(exercise)
    with _secret_folder(environment.load_settings(), seed) as folder:
        graders = _graders(folder, gate=gate)
        if batch:
            sys.exit(asyncio.run(_grade_batch(task, graders)))
        assert code is not None
        sys.exit(asyncio.run(_grade_one(task, _read_submission(code), graders, as_json=as_json)))


def as_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as the JSON object of one line."""
    names = {name_verdict.name: _name_row(name_verdict) for name_verdict in verdict.names}
    return {
        "outcome": verdict.outcome,
        "passed": verdict.passed,
        "names": names,
        "line": verdict.line,
        "message": verdict.message,
        "wall_ms": round(verdict.wall_ms, 2),
    }


def _name_row(name_verdict: NameVerdict) -> dict[str, Any]:
    row = {key: getattr(name_verdict, key) for key in ("verdict", "code", "message", "exact", "approx", "maxdiff")}
    finite = name_verdict.maxdiff is not None and math.isfinite(name_verdict.maxdiff)
    return row | {"maxdiff": name_verdict.maxdiff if finite else None}


async def _grade_one(task: AnyTask, code: str, started: LocalGraders, *, as_json: bool) -> int:
    async with started_graders(started) as graders:
        verdict = await graders.check(task, code)
    typer.echo(_row_json(as_row(verdict)) if as_json else _as_text(verdict))
    return 0 if verdict.passed else 1


async def _grade_batch(task: AnyTask, started: LocalGraders) -> int:
    async with started_graders(started) as graders:
        async for name, code in _submissions():
            verdict = await graders.check(task, code) if code is not None else _unreadable()
            typer.echo(_row_json(as_row(verdict) | {"id": name}))
            sys.stdout.flush()
    return 0


async def _submissions() -> AsyncIterator[tuple[Any, str | None]]:
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        row = row if isinstance(row, dict) else {}
        name, code = row.get("id"), row.get("code")
        if _is_json(name):
            yield name, code if isinstance(code, str) else None
        else:
            yield None, None


def _is_json(value: Any) -> bool:
    """True if *value* can be written as JSON: Python reads NaN and 1e400, which JSON does not have."""
    try:
        return bool(_row_json(value))
    except (ValueError, RecursionError):
        return False


def _unreadable() -> Verdict:
    return Verdict(outcome="refused", message='This line is not JSON of the form {"id": ..., "code": "..."}.')


@contextlib.contextmanager
def _secret_folder(settings: Settings, seed: int | None) -> Iterator[Path]:
    """Create a folder with the secret that seeds the hidden numbers, so that a learner cannot compute them at home."""
    if seed is None and (settings.data_dir / FILE).exists():
        require_secret(settings.data_dir)
        yield settings.data_dir
        return
    with TemporaryDirectory(prefix="backhand-") as folder:
        write_secret(Path(folder), secrets.token_bytes(32) if seed is None else sha256(str(seed).encode()).digest())
        yield Path(folder)


def _graders(folder: Path, *, gate: bool) -> LocalGraders:
    settings = environment.load_settings().model_copy(update={"graders": 1, "data_dir": folder})
    # Facts of a lesson somewhere on disk are not the server's: they are kept in memory only.
    return LocalGraders(settings, gate=gate, keep_facts=False, secret=True)


def _task(exercise: str) -> AnyTask:
    path, _, name = exercise.partition("#")
    if not name:
        refuse(f"{exercise!r} names no exercise. Write FILE.md#EXERCISE, such as lesson.md#linear-backward.")
    lesson = _lesson(Path(path))
    box = lesson.exercise(name)
    if not isinstance(box, CodeBox):
        known = ", ".join(block.name for block in lesson.boxes) or "none"
        refuse(f"{path} has no code box {name!r}. Its code boxes are: {known}.")
    return task_of(lesson, box)


def _lesson(path: Path) -> Lesson:
    try:
        return load_lesson(path)
    except LessonErrors as errors:
        refuse(str(errors))
    except OSError as error:
        refuse_unreadable(path, error)


def _read_submission(path: Path) -> str:
    try:
        text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        refuse_unreadable(path, error)
    return text.decode(errors="replace")


def _as_text(verdict: Verdict) -> str:
    lines = [
        f"{MARKS.get(name.verdict, '✗')} {name.name:<16} {name.word or name.verdict:<17} {name.message}"
        for name in verdict.names
    ]
    if verdict.message:
        place = f"line {verdict.line}: " if verdict.line else ""
        lines.append(f"{verdict.outcome}: {place}{verdict.message}")
    right = sum(name_verdict.verdict in ("right", "right-other-road") for name_verdict in verdict.names)
    hidden = f", checked on {verdict.hidden_sizes} hidden sizes" if verdict.hidden_sizes else ""
    lines.append(f"{right} of {len(verdict.names)} right{hidden}")
    return "\n".join(line.rstrip() for line in lines)


def _row_json(row: Any) -> str:
    # ASCII: a message may quote text that no terminal encoding can carry.
    return json.dumps(row, allow_nan=False)
