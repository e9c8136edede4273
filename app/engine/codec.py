"""Frozen dataclasses to JSON values and back: what crosses between the web process and a grader.

Decoding follows the type hints, so a value that does not fit its field is an error here and never a surprise later.
How a kind is read is worked out once: every check crosses here several times.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]

_AS_IT_IS = frozenset([str, int, float, bool, types.NoneType])


def plain(value: object) -> Any:
    """*value* as JSON values: dataclasses become objects, tuples become lists."""
    kind: Any = type(value)
    if kind in _AS_IT_IS:
        return value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    names = _names(kind)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value


def restored(kind: type[T], value: Any) -> T:
    """The *kind* that `plain` turned into *value*.

    Raises:
        ValueError: *value* is not what `plain` makes of a *kind*.
    """
    read: Reader = _reader(cast(Any, kind))
    result: T = read(value)
    return result


@cache
def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def _reader(kind: Any) -> Reader:
    """What turns JSON values into a *kind*."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin in (Union, types.UnionType):
        return _union_reader(arguments)
    if origin is Literal:
        return lambda value: _expect(value in arguments, kind, value)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_reader(kind, arguments[1])
    if kind is Any or kind is object:
        return lambda value: value
    if kind is float:
        return _number
    if issubclass(kind, str) and kind is not str:
        return lambda value: kind(_expect(isinstance(value, str), kind, value))
    return lambda value: value if type(value) is kind else _expect(False, kind, value)


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers: dict[str, Reader] = {}

    def read(value: Any) -> Any:
        _expect(type(value) is dict and value.keys() <= hints.keys(), kind, value)
        if not readers:  # not before: a kind may hold itself
            readers.update((name, _reader(hint)) for name, hint in hints.items())
        return kind(**{name: readers[name](item) for name, item in value.items()})

    return read


def _tuple_reader(arguments: tuple[Any, ...]) -> Reader:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        reader = _reader(arguments[0])
        return lambda value: tuple([reader(item) for item in _expect(type(value) is list, tuple, value)])
    readers = tuple(_reader(one) for one in arguments)

    def read(value: Any) -> Any:
        _expect(type(value) is list and len(value) == len(readers), tuple, value)
        return tuple(reader(item) for reader, item in zip(readers, value, strict=True))

    return read


def _union_reader(arguments: tuple[Any, ...]) -> Reader:
    kinds = [kind for kind in arguments if kind is not types.NoneType]
    _expect(len(kinds) == 1, arguments, "a union")
    reader, optional = _reader(kinds[0]), len(kinds) < len(arguments)
    return lambda value: None if value is None and optional else reader(value)


def _mapping_reader(kind: Any, item: Any) -> Reader:
    reader = _reader(item)
    return lambda value: {key: reader(one) for key, one in _expect(type(value) is dict, kind, value).items()}


def _number(value: Any) -> float:
    return float(_expect(type(value) is float or type(value) is int, float, value))


def _expect(claim: bool, kind: Any, value: Any) -> Any:
    if not claim:
        raise ValueError(f"{value!r:.80} is not a {kind}")
    return value
