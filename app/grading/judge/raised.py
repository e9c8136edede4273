"""What the jail reported of an exception: the line, the text, and the operands of the operation that raised.

The report may be forged, so every field is checked for its kind and dropped where it does not fit.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A tensor that stood at the failing operation, as the learner wrote it."""

    source: str
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"`{self.source}` {shape_text(self.shape)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """An exception of the learner's code, as the jail reported it."""

    kind: str
    text: str
    line: int | None
    source: str
    operands: tuple[Operand, ...]
    statement: int


Row = tuple[str, Callable[[re.Match[str], Raised], str]]


def raised(report: Mapping[str, Any]) -> Raised:
    """Read a report that the jail sent; fields of the wrong kind are dropped."""
    operands = tuple(
        Operand(
            source=str(one.get("source", ""))[:120],
            shape=numbers_in(one.get("shape")),
            dtype=str(one.get("dtype", ""))[:20],
        )
        for one in listed(report.get("operands"))
        if isinstance(one, dict)
    )
    line, statement = report.get("line"), report.get("statement")
    return Raised(
        kind=str(report.get("type", "Exception"))[:80],
        text=str(report.get("text", ""))[:2000],
        line=line if type(line) is int else None,
        source=str(report.get("source", ""))[:120],
        operands=operands,
        statement=statement if type(statement) is int else 0,
    )


def listed(value: object) -> Sequence[Any]:
    """*value* where it is a list; a report may hold anything anywhere."""
    return value if isinstance(value, list) else ()


def numbers_in(value: object) -> tuple[int, ...]:
    """The whole numbers in a list; `true` is none, and no place for one would take it."""
    return tuple(one for one in listed(value) if type(one) is int)


def shape_text(shape: Sequence[int]) -> str:
    inner = ", ".join(str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
