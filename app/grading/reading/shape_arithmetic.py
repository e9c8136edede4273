"""What Python's own signs and functions give, of shapes and of numbers; what they do not take, nobody can tell."""

import ast
from collections.abc import Mapping
from functools import partial, reduce
from typing import Any

from app.content.program.static_values import COMPARED, PLAIN
from app.grading.reading.abstract import (
    LARGEST,
    NUMBER,
    Abstract,
    AnyNumber,
    UnknownError,
    is_number,
    picked,
    product,
    tensor,
    together,
)

ITEMS_MAX, HELD_MAX = 200, 1000
SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def arithmetic(op: ast.operator, a: Any, b: Any) -> Any:
    """What `a op b` gives; a `CollisionError` where shapes cannot meet."""
    if isinstance(a, Abstract) or isinstance(b, Abstract):
        if isinstance(op, ast.MatMult):
            return product(tensor(a), tensor(b))
        if type(op) not in SIGNS:
            raise UnknownError
        made = together(a, b, how=SIGNS[type(op)])
        return made.reshaped(made.shape, kind="f") if isinstance(op, ast.Div) and made.kind in "ib" else made
    if isinstance(a, AnyNumber) or isinstance(b, AnyNumber):
        if is_number(a) and is_number(b):
            return NUMBER
        raise UnknownError
    return _plain(op, a, b)


def signed(op: ast.unaryop, value: Any) -> Any:
    """What a sign before *value* gives."""
    if isinstance(value, Abstract):
        if isinstance(op, ast.Not):
            return NUMBER
        return value
    if isinstance(op, ast.USub) and is_number(value):
        return NUMBER if isinstance(value, AnyNumber) else -value
    if isinstance(op, ast.Not):
        return NUMBER if isinstance(value, AnyNumber) else not value
    raise UnknownError


def compared(op: ast.cmpop, a: Any, b: Any) -> Any:
    """What `a op b` gives where *op* compares: of tensors a mask, of numbers that are known a truth."""
    if isinstance(a, Abstract) or isinstance(b, Abstract):
        if type(op) not in COMPARED:
            raise UnknownError
        met = together(a, b, how="compare")
        return met.reshaped(met.shape, kind="b")
    if type(op) in COMPARED and type(a) in (int, str, tuple, list) and type(a) is type(b):
        return COMPARED[type(op)](a, b)
    return NUMBER


def items_of(value: Any) -> list[Any]:
    """What a loop over *value* goes through."""
    if isinstance(value, Abstract):
        if not value.rank or value.shape[0] > ITEMS_MAX:
            raise UnknownError
        return [picked(value, at) for at in range(value.shape[0])]
    if not isinstance(value, list | tuple | range) or len(value) > ITEMS_MAX:
        raise UnknownError
    return list(value)


def built_in(name: str, given: list[Any]) -> Any:
    """What the function *name* of Python's gives."""
    match name, given:
        case "len", [Abstract() as x]:
            return x.shape[0]
        case "len", [list() | tuple() | str() | range() as items]:
            return len(items)
        case "range", _ if all(type(one) is int for one in given):
            return range(*given)
        case "sum", [list() | tuple() as items]:
            return reduce(partial(together, how="+"), items)
        case ("list" | "tuple", [inner]):
            return (list if name == "list" else tuple)(items_of(inner))
        case "reversed", [inner]:
            return items_of(inner)[::-1]
        case "enumerate", [inner]:
            return list(enumerate(items_of(inner)))
        case "zip", _:
            return list(zip(*map(items_of, given), strict=False))
        case ("int", [int() as number]):
            return number
        case ("float", [str() as text]):
            float(text)
            return NUMBER
        case "abs", [Abstract() as x]:
            return x
        case ("float" | "int" | "round" | "bool" | "abs" | "min" | "max" | "pow", _) if all(map(_is_one, given)):
            return NUMBER
        case "print", _:
            return None
    raise UnknownError


def _is_one(value: Any) -> bool:
    return is_number(value) or (isinstance(value, Abstract) and not value.rank)


def held(value: Any) -> int:
    """How many values *value* holds, itself included; those that it is made of are bounded already."""
    if not isinstance(value, list | tuple):
        return 1
    return 1 + sum(map(held, value)) if len(value) <= HELD_MAX else HELD_MAX + 1


def _plain(op: ast.operator, a: Any, b: Any) -> Any:
    if isinstance(a, list | tuple) and type(a) is type(b) and isinstance(op, ast.Add) and len(a) <= ITEMS_MAX:
        return type(a)([*a, *b])
    if isinstance(a, list | tuple) and type(b) is int and isinstance(op, ast.Mult) and len(a) * b <= ITEMS_MAX:
        return a * b
    if not (is_number(a) and is_number(b)) or type(op) not in PLAIN:
        raise UnknownError
    if isinstance(op, ast.Pow) and (abs(a) > 1e6 or abs(b) > 16):
        raise UnknownError
    made = PLAIN[type(op)](a, b)
    if not isinstance(made, int | float) or abs(made) >= LARGEST:
        raise UnknownError
    return made
