"""Verdicts, runs and answers as the database keeps them: JSON text.

What an older version wrote in another form is read as None, never as an error.
"""

import json
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

from app.engine.grader import RunResult
from app.engine.train.snapshot import Snapshot
from app.grading.judge.verdict import Verdict

T = TypeVar("T")

_KINDS: dict[type, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (Verdict, RunResult, Snapshot)}


def to_json_column(value: Verdict | RunResult | Snapshot) -> str:
    return json.dumps(_KINDS[type(value)].dump_python(value, mode="json"), separators=(",", ":"))


@lru_cache(maxsize=256)  # a page that is read again shows the same
def decoded_verdict(text: str | None) -> Verdict | None:
    return _decode(Verdict, text)


@lru_cache(maxsize=256)
def decoded_run(text: str | None) -> RunResult | None:
    return _decode(RunResult, text)


@lru_cache(maxsize=256)
def decoded_snapshot(text: str | None) -> Snapshot | None:
    return _decode(Snapshot, text)


@lru_cache(maxsize=4096)
def decoded_answer(text: str | None) -> tuple[str, ...] | None:
    try:
        values = json.loads(text) if text else None
    except ValueError:
        return None
    return tuple(str(value) for value in values) if isinstance(values, list) else None


@lru_cache(maxsize=4096)
def decoded_draw(verdict: str | None) -> int:
    """Which draw of a question was answered; the first where none is told."""
    try:
        stored = json.loads(verdict or "{}")
    except ValueError:
        return 0
    draw = stored.get("draw") if isinstance(stored, dict) else None
    return draw if isinstance(draw, int) else 0


def _decode(kind: type[T], text: str | None) -> T | None:
    try:
        return cast(T, _KINDS[kind].validate_json(text, strict=True, extra="ignore")) if text else None
    except ValueError:
        return None
