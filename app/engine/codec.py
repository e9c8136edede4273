"""Frozen dataclasses to JSON values and back: what crosses between the web process and a grader.

Decoding follows the type hints, so a value that does not fit its field is an error here and never a surprise later.
"""

import json
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")


def to_json_value(value: object) -> Any:
    """*value* as JSON values: dataclasses become objects, tuples become lists."""
    return _adapter(cast(Any, type(value))).dump_python(value, mode="json")


def from_json_value(kind: type[T], value: Any) -> T:
    """The *kind* that `to_json_value` turned into *value*.

    Raises:
        ValueError: *value* is not what `to_json_value` makes of a *kind*.
    """
    # As text: only there does a strict reader take a list for a tuple, and nothing else for anything.
    return from_json(kind, json.dumps(value))


def to_json(value: object) -> str:
    """*value* as JSON text, without spaces."""
    return json.dumps(to_json_value(value), separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """The *kind* that `to_json` turned into *text*.

    Raises:
        ValueError: *text* is not what `to_json` makes of a *kind*.
    """
    value: T = _adapter(cast(Any, kind)).validate_json(text, strict=True, extra="forbid")
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
