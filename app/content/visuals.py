"""The kinds of pictures there are, and what each needs."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.content.errors import did_you_mean
from app.content.options import Options

MOST_CELLS = 4096
MOST_NAMES = 32
Given = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of picture.

    Args:
        program: Whether it can be drawn from a forward program; with *tensor*, from the one that `:of:` names.
        needs: Keys of `:given:` that it can be drawn from instead; empty where it needs a program.
        keys: Every key of `:given:`, with what a value must be and its test.
        alone: It needs neither: the names of the deployment, to look into.
    """

    program: bool
    tensor: bool
    needs: tuple[str, ...]
    keys: Mapping[str, tuple[str, Callable[[object, Given], bool]]]
    alone: bool = False


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(value: object, _: Given) -> bool:
    return isinstance(value, list) and 2 <= len(value) <= 64 and all(is_number(one) for one in value)


def _shape(value: object, _: Given) -> bool:
    return isinstance(value, list) and len(value) <= 4 and all(_size(one, {}) for one in value)


def _size(value: object, _: Given) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1000


def _matrix(value: object, _: Given) -> bool:
    if not isinstance(value, list) or not value or not all(isinstance(row, list) and row for row in value):
        return False
    same = len({len(row) for row in value}) == 1 and len(value) * len(value[0]) <= MOST_CELLS
    return same and all(is_number(one) for row in value for one in row)


def _labels(value: object, _: Given) -> bool:
    return isinstance(value, list) and all(isinstance(one, str | int | float) for one in value)


def _logit_labels(value: object, given: Given) -> bool:
    z = given.get("z")
    return _labels(value, given) and isinstance(value, list) and isinstance(z, list) and len(value) == len(z)


def _target(value: object, given: Given) -> bool:
    z = given.get("z")
    return isinstance(value, int) and not isinstance(value, bool) and isinstance(z, list) and 0 <= value < len(z)


def _pair(value: object, _: Given) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, int) and one >= 0 for one in value)


def _text(value: object, _: Given) -> bool:
    return isinstance(value, str)


def _flag(value: object, _: Given) -> bool:
    return isinstance(value, bool)


def _rows(given: Given) -> list[list[object]]:
    values = given.get("values")
    return values if isinstance(values, list) and _matrix(values, given) else []


def _row_labels(value: object, given: Given) -> bool:
    return _labels(value, given) and isinstance(value, list) and len(value) == len(_rows(given))


def _column_labels(value: object, given: Given) -> bool:
    return _labels(value, given) and isinstance(value, list) and all(len(value) == len(row) for row in _rows(given))


def _marks(value: object, given: Given) -> bool:
    rows = _rows(given)
    if not isinstance(value, list) or len(value) != len(rows):
        return False
    whole = [one for one in value if isinstance(one, int) and not isinstance(one, bool)]
    return len(whole) == len(rows) and all(0 <= one < len(row) for one, row in zip(whole, rows, strict=True))


def _steps(value: object, _: Given) -> bool:
    return isinstance(value, list) and bool(value) and all(_whole(one) for one in value)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _name_lists(value: object, given: Given) -> bool:
    steps = given.get("steps")
    if not isinstance(value, list) or not isinstance(steps, list) or len(value) != len(steps):
        return False
    return all(isinstance(some, list) and 0 < len(some) <= MOST_NAMES and _labels(some, given) for some in value)


KINDS: Mapping[str, Kind] = {
    "graph": Kind(True, False, (), {"highlight": ("a list of tensor names", _labels)}),
    "broadcast": Kind(
        True,
        True,
        ("from", "to"),
        {"from": ("a shape such as [27]", _shape), "to": ("a shape such as [32, 27]", _shape)},
    ),
    "heatmap": Kind(
        False,
        False,
        ("values",),
        {
            "values": ("a matrix of numbers: a list of rows of the same length", _matrix),
            "rows": ("a list with one label per row", _row_labels),
            "columns": ("a list with one label per column", _column_labels),
            "marks": ("a list with the number of one column per row", _marks),
            "sums": ("true or false", _flag),
        },
    ),
    "forces": Kind(
        False,
        False,
        ("z", "target"),
        {
            "z": ("a list of at least two numbers", _numbers),
            "target": ("the index of one entry of z", _target),
            "labels": ("a list with one label per entry of z", _logit_labels),
        },
    ),
    "samples": Kind(
        False,
        False,
        ("steps", "names"),
        {
            "steps": ("a list of whole numbers above 0", _steps),
            "names": ("a list of names for each of the steps", _name_lists),
            "known": ("a list of names", _labels),
        },
    ),
    "names": Kind(False, False, (), {}, alone=True),
    "cells": Kind(
        True,
        True,
        ("left", "right"),
        {
            "left": ("a shape such as [2, 2]", _shape),
            "right": ("a shape such as [2, 2]", _shape),
            "pick": ("row and column of one cell, such as [0, 1]", _pair),
            "names": ("a list of names", _labels),
            "title": ("a text", _text),
        },
    ),
}


def check_given(kind: Kind, given: Given, options: Options) -> None:
    """Faults where a picture has neither program nor numbers, or numbers of the wrong type."""
    name = options.text("kind")
    for key, value in given.items():
        if key not in kind.keys:
            options.wrong(
                "given", "unknown-option", f"A picture {name!r} knows no {key!r}.", did_you_mean(key, kind.keys)
            )
            continue
        what, test = kind.keys[key]
        if not test(value, given):
            options.wrong("given", "wrong-type", f"{key!r} of a picture {name!r} is {what}.")
    if kind.alone:
        return
    if kind.program and "forward" in options:
        if kind.tensor and "of" not in options:
            options.need("of", "W")
        return
    missing = [key for key in kind.needs if key not in given]
    if missing or not kind.needs:
        ways = ["':forward:'" + (" and ':of:'" if kind.tensor else "")] if kind.program else []
        ways += [f"':given: {{{', '.join(f'{key}: …' for key in kind.needs)}}}'"] if kind.needs else []
        options.faults.add(options.place, "missing-option", f"A picture {name!r} needs {' or '.join(ways)}.")
