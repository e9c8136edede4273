"""Run reports of a submission, read from what untrusted code could have written.

Every field is checked for its kind and dropped where it does not fit; a forged report can only harm its own submission.
"""

import builtins
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.content.text.sizes import format_shape
from app.grading.forward.driver_jobs import HEAD
from app.grading.judge.verdict import STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorOperand:
    """Tensor at the failing operation, as the learner wrote it."""

    source: str
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"`{self.source}` {format_shape(self.shape)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedError:
    """An exception of the learner's code, as the jail reported it.

    Args:
        known: The names that it could have read.
        ahead: Those that its own line and the ones below it make, each with the first line that does.
        fresh: Those that its own line makes anew, and reads for something else than to add to them.
        mends: Whether the line is right with another text in the place of one of its own; where none can tell, it may.
    """

    kind: str
    text: str
    line: int | None
    source: str
    operands: tuple[ErrorOperand, ...]
    statement: int
    known: tuple[str, ...] = ()
    ahead: Mapping[str, int] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()
    mends: Callable[[str, str], bool] = field(default=lambda _text, _instead: True, compare=False)


Row = tuple[str, str, str | Callable[[re.Match[str], ReportedError], str]]
"""Pattern of an error text, its stored diagnosis code (it never changes), and a text or a function that explains it."""


def parse_error(report: Mapping[str, Any]) -> ReportedError:
    """Read a report that the jail sent; fields of the wrong kind are dropped."""
    operands = tuple(
        ErrorOperand(
            source=str(row.get("source", ""))[:120],
            shape=numbers_in(row.get("shape")),
            dtype=str(row.get("dtype", ""))[:20],
        )
        for row in as_list(report.get("operands"))
        if isinstance(row, dict)
    )
    line, statement = report.get("line"), report.get("statement")
    return ReportedError(
        kind=str(report.get("type", "Exception"))[:80],
        text=str(report.get("text", ""))[:2000],
        line=line if type(line) is int else None,
        source=str(report.get("source", ""))[:120],
        operands=operands,
        statement=statement if type(statement) is int else 0,
    )


def as_list(value: object) -> Sequence[Any]:
    """*value* where it is a list; a report may hold anything anywhere."""
    return value if isinstance(value, list) else ()


def numbers_in(value: object) -> tuple[int, ...]:
    """The whole numbers in a list; `true` is none, and no place for one would take it."""
    return tuple(number for number in as_list(value) if type(number) is int)


Array = NDArray[Any]
_BUILTINS = {name: var for name, var in vars(builtins).items() if isinstance(var, type)}
_ERRORS = frozenset(name for name, builtin in _BUILTINS.items() if issubclass(builtin, BaseException))
_KINDS = frozenset([*_BUILTINS, "NoneType", "function", "method", "builtin_function_or_method", "module", "Size"])
_SHOWN, _CELL, _MAP = 64, 24, 64
_LEVELS = re.compile(rf"[.?{STEPS}{STEPS.upper()}]{{1,64}}")
_UNFIT = re.compile(r"dtype torch\.[a-z0-9]{1,10}|layout torch\.[a-z_]{1,20} on [a-z]{1,8}|too large|type Parameter")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValue:
    """One name of a run without a verdict: *text* is the tensor as torch prints it, cut to a bound.

    Args:
        rows: Its first rows and columns, in words.
        map: The magnitudes of all of it, a letter for each entry or for evenly spaced ones.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    text: str
    rows: tuple[tuple[str, ...], ...] = ()
    map: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run.

    Args:
        values: Each finished gradient, at the moment of its last write.
        later: The same object at the end, where it had changed by then.
        changed_by: Index of the statement that changed it.
        kinds: By name, the type of what is not a tensor.
        mutated: Index of the first statement that changed it, by name of a tensor that was not the learner's.
        rebound: Names of such tensors and the statements that bound them to other values, in the order of the run.
    """

    values: Mapping[str, Array] = field(default_factory=dict)
    later: Mapping[str, Array] = field(default_factory=dict)
    changed_by: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[ReportedError] = ()
    mutated: Mapping[str, int] = field(default_factory=dict)
    rebound: Sequence[tuple[str, int]] = ()
    shown: tuple[ShownValue, ...] = ()

    def final(self, name: str) -> Array | None:
        array = self.later.get(name)
        return self.values.get(name) if array is None else array


def read_trials(
    arrays: Mapping[str, Array], texts: Mapping[str, str], runs: Sequence[str], hidden: Collection[str] = ()
) -> dict[str, RunReport]:
    """One `RunReport` per run; an empty one where nothing usable came back.

    Args:
        hidden: Runs on hidden data. Whatever the code can say in a text of its own is left out of them.
    """
    report = parse_report(texts.get("report", ""))
    reports = {run: _trial(run, arrays, texts, _mapping(report.get(run))) for run in runs}
    return {run: _silent(run_report) if run in hidden else run_report for run, run_report in reports.items()}


def _silent(trial: RunReport) -> RunReport:
    """*trial* without words: an error is known by its place and by a kind of Python's own, a value by such a kind."""
    errors = [
        replace(error, kind=error.kind if error.kind in _ERRORS else "error", text="", source="", operands=())
        for error in trial.errors
    ]
    return replace(
        trial, errors=errors, kinds={name: _known_kind(kind) for name, kind in trial.kinds.items()}, shown=()
    )


def _known_kind(kind: str) -> str:
    """*kind*, where it is a word of Python or of the jail; a learner may call a type anything."""
    unfit = _UNFIT.match(kind)
    return unfit[0] if unfit else kind if kind in _KINDS else "object"


def _trial(run: str, arrays: Mapping[str, Array], texts: Mapping[str, str], report: Mapping[str, Any]) -> RunReport:
    prefix, later = f"{run}/", f"{run}/later/"
    changed = {key.removeprefix(later): array for key, array in arrays.items() if key.startswith(later)}
    values = {
        key.removeprefix(prefix): array
        for key, array in arrays.items()
        if key.startswith(prefix) and not key.startswith(later)
    }
    kinds: dict[str, str] = {}
    for name, kind in _mapping(report.get("kinds")).items():
        number = _mapping(kind).get("number")
        if isinstance(number, int | float):
            values[name] = np.asarray(number)
        kinds[name] = str(_mapping(kind).get("kind", "object"))[:80]
    unfit = f"!{prefix}"
    kinds |= {key.removeprefix(unfit): text[:200] for key, text in texts.items() if key.startswith(unfit)}
    return RunReport(
        values=values,
        later=changed,
        changed_by={name: at for name, at in _mapping(report.get("changed")).items() if isinstance(at, int)},
        kinds=kinds,
        errors=tuple(parse_error(row) for row in as_list(report.get("errors")) if isinstance(row, dict)),
        mutated=_first(_events(report.get("mutated"))),
        rebound=_events(report.get("rebound")),
        shown=tuple(_parse_shown(item) for item in as_list(report.get("shown"))[:_SHOWN]),
    )


def _parse_shown(value: object) -> ShownValue:
    """Read the shown value of one name."""
    fields = _mapping(value)
    return ShownValue(
        name=str(fields.get("name", ""))[:200],
        shape=numbers_in(fields.get("shape")),
        dtype=str(fields.get("dtype", ""))[:20],
        text=str(fields.get("text", ""))[:4000],
        rows=tuple(
            tuple(str(cell)[:_CELL] for cell in as_list(row)[:HEAD]) for row in as_list(fields.get("rows"))[:HEAD]
        ),
        map=tuple(match[0] for row in as_list(fields.get("map"))[:_MAP] if (match := _LEVELS.fullmatch(str(row)))),
    )


def _events(value: object) -> tuple[tuple[str, int], ...]:
    """Names and the indices of statements that did something to them."""
    pairs = ((_mapping(item).get("name"), _mapping(item).get("statement")) for item in as_list(value))
    return tuple((name, at) for name, at in pairs if isinstance(name, str) and type(at) is int)


def _first(events: Sequence[tuple[str, int]]) -> dict[str, int]:
    indices: dict[str, int] = {}
    for name, at in events:
        indices.setdefault(name, at)
    return indices


def parse_report(text: str) -> Mapping[str, Any]:
    """A report of the jail; empty when it is none. Its texts can be encoded."""
    try:
        report = json.loads(text or "{}")
        if "\\ud" in text.lower():  # half of a surrogate pair is a text that no page can be written with
            report = json.loads(json.dumps(report, ensure_ascii=False).encode(errors="replace"))
        return _mapping(report)
    except (ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
