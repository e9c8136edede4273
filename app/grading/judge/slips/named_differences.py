"""Differences of two expressions that have a name: each row says what the learner's has become, and what is named.

They are looked up before the difference is called "something else"; the first row that fits is taken.
"""

from collections.abc import Callable, Mapping
from typing import Final

from app.syntax import (
    Expression,
    arguments_of,
    called_name,
    elements_of,
    function_of,
    index_of,
    indexed_of,
    is_binary,
    is_constant,
    name_of,
    options_of,
    owner_of,
    sides_of,
    sign_of,
    source_text,
    syntax_key,
)

Alike = Callable[[Expression, Expression], bool]
"""True if the two are the same, names that only one side knows aside."""
Fields = Mapping[str, str]
Row = Callable[[Expression, Expression, Alike], Fields | None]

_KEEPDIM = "keepdim"
_SYMMETRIC: Final = frozenset({"+", "*"})


def _lost_axis(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`g.sum(1)` for `g.sum(1, keepdim=True)`."""
    keeps = _KEEPDIM in options_of(right) and _KEEPDIM not in options_of(own)
    return {"place": source_text(own)} if keeps and _same_but_keepdim(own, right, alike) else None


def _extra_axis(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`g.sum(1, keepdim=True)` for `g.sum(1)`."""
    keeps = _KEEPDIM in options_of(own) and _KEEPDIM not in options_of(right)
    return {"place": source_text(own)} if keeps and _same_but_keepdim(own, right, alike) else None


def _same_but_keepdim(own: Expression, right: Expression, alike: Alike) -> bool:
    if not called_name(own) or called_name(own) != called_name(right):
        return False
    owner, other, arguments = owner_of(own), owner_of(right), (arguments_of(own), arguments_of(right))
    options = [{name: option for name, option in options_of(call).items() if name != _KEEPDIM} for call in (own, right)]
    return (
        len(arguments[0]) == len(arguments[1])
        and all(map(alike, *arguments))
        and options[0].keys() == options[1].keys()
        and all(alike(options[0][name], options[1][name]) for name in options[0])
        and (owner is other is None or (owner is not None and other is not None and alike(owner, other)))
    )


def _scores(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`scores` for `softmax(scores, 1)`."""
    return _raw(own, right, alike) if called_name(right) == "softmax" else None


def _raw(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`x` for `tanh(x)`, `torch.tanh(x)` or `x.tanh()`."""
    if not called_name(right):
        return None
    first = arguments_of(right)[0] if _belongs_to_module(right) and arguments_of(right) else owner_of(right)
    return {"place": source_text(own)} if first is not None and alike(own, first) else None


def _belongs_to_module(call: Expression) -> bool:
    """True for `f(x)`, `torch.f(x)` and the like, where what is worked on is the first argument."""
    return owner_of(call) is None or name_of(owner_of(call)) in {"torch", "F", "math"}


def _whole_for_part(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`x` for `x[1:]` or `x[i]`."""
    whole = indexed_of(right)
    return {"place": source_text(own)} if whole is not None and alike(own, whole) else None


def _part_for_whole(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`x[1:]` or `x[i]` for `x`."""
    whole = indexed_of(own)
    named = {"place": source_text(own), "name": source_text(whole)} if whole is not None else {}
    return named if whole is not None and alike(whole, right) else None


def _other_axis(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`x[t]` for `x[:, t]`."""
    whole, other = indexed_of(own), indexed_of(right)
    index, wanted = index_of(own), index_of(right)
    parts = elements_of(wanted) if wanted is not None else None
    if whole is None or other is None or index is None or not parts or not alike(whole, other):
        return None
    picks = [part for part in parts if source_text(part) != ":"]
    fits = elements_of(index) is None and len(picks) == 1 and parts[0] is not picks[0] and alike(index, picks[0])
    return {"place": source_text(own), "index": source_text(index)} if fits else None


def _text_for_number(own: Expression, right: Expression, _: Alike) -> Fields | None:
    """`"."` for `0`."""
    return {"place": source_text(own)} if is_constant(own, str) and is_constant(right, int, float) else None


def _argument_exchange(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`f(y, x)` for `f(x, y)`."""
    match arguments_of(own), arguments_of(right):
        case [a, b], [c, d] if _same_function(own, right) and not alike(a, c) and alike(a, d) and alike(b, c):
            return {"place": source_text(own), "name": called_name(own), "first": source_text(b)}
    return None


def _same_function(own: Expression, right: Expression) -> bool:
    functions = function_of(own), function_of(right)
    return (
        functions[0] is not None and functions[1] is not None and syntax_key(functions[0]) == syntax_key(functions[1])
    )


def _side_exchange(own: Expression, right: Expression, alike: Alike) -> Fields | None:
    """`b - a` for `a - b`, and the like."""
    sides, others = sides_of(own), sides_of(right)
    if sides is None or others is None or not is_binary(own) or sign_of(own) != sign_of(right):
        return None
    turned = sign_of(own) not in _SYMMETRIC and not alike(sides[0], others[0])
    fits = turned and alike(sides[0], others[1]) and alike(sides[1], others[0])
    return {"place": source_text(own), "sign": sign_of(own)} if fits else None


NAMED_DIFFERENCES: Mapping[str, Row] = {
    "axis-lost": _lost_axis,
    "axis-left": _extra_axis,
    "scores": _scores,
    "raw": _raw,
    "uncut": _whole_for_part,
    "cut": _part_for_whole,
    "other-axis": _other_axis,
    "text-for-number": _text_for_number,
    "exchanged-arguments": _argument_exchange,
    "exchanged-sides": _side_exchange,
}
"""By kind of slip, a row of `phrases.toml`."""


def named_difference(own: Expression, right: Expression, alike: Alike) -> tuple[str, Fields] | None:
    """The kind of the difference, and what its sentence names; None where it has no name."""
    return next(
        ((kind, fields) for kind, row in NAMED_DIFFERENCES.items() if (fields := row(own, right, alike)) is not None),
        None,
    )
