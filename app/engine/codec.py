"""Frozen dataclasses to JSON values and back: what crosses between the web process and a grader.

Decoding follows the type hints, so a value that does not fit its field is an error here and never a surprise later.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def plain(value: object) -> Any:
    """*value* as JSON values: dataclasses become objects, tuples become lists."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return value


def restored(kind: type[T], value: Any) -> T:
    """The *kind* that `plain` turned into *value*.

    Raises:
        ValueError: *value* is not what `plain` makes of a *kind*.
    """
    result: T = _restore(kind, value)
    return result


def _restore(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        return _restore_dataclass(kind, value)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _restore_tuple(arguments, value)
    if origin in (Union, types.UnionType):
        return _restore_union(arguments, value)
    if origin is Literal:
        return _expect(value in arguments, kind, value)
    if origin is not None and issubclass(origin, Mapping):
        _expect(isinstance(value, dict), kind, value)
        return {key: _restore(arguments[1], item) for key, item in value.items()}
    if kind is Any or kind is object:
        return value
    if kind is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), kind, value)
        return float(value)
    if isinstance(value, str) and issubclass(kind, str):
        return kind(value)
    return _expect(type(value) is kind, kind, value)


def _restore_dataclass(kind: Any, value: Any) -> Any:
    _expect(isinstance(value, dict) and value.keys() <= _hints(kind).keys(), kind, value)
    return kind(**{name: _restore(_hints(kind)[name], item) for name, item in value.items()})


def _restore_tuple(arguments: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    _expect(isinstance(value, list), tuple, value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_restore(arguments[0], item) for item in value)
    _expect(len(arguments) == len(value), tuple, value)
    return tuple(_restore(kind, item) for kind, item in zip(arguments, value, strict=True))


def _restore_union(arguments: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return _expect(types.NoneType in arguments, arguments, value)
    kinds = [kind for kind in arguments if kind is not types.NoneType]
    _expect(len(kinds) == 1, arguments, value)
    return _restore(kinds[0], value)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _expect(claim: bool, kind: Any, value: Any) -> Any:
    if not claim:
        raise ValueError(f"{value!r:.80} is not a {kind}")
    return value
