"""The kinds of pictures there are, and what each needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import lt
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, FiniteFloat, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from app.content.text.errors import did_you_mean
from app.content.text.options import Options

MOST_CELLS = 4096
MOST_CELLS_PER_AXIS = 4
MOST_NAMES = 32
Given = Mapping[str, object]
Test = Callable[[Any, Given], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of picture.

    Args:
        program: Whether it can be drawn from a forward program; with *tensor*, from the one that `:of:` names.
        needs: Keys of `:given:` that it can be drawn from instead; empty where it needs a program.
        keys: Every key of `:given:`, with what a value must be and its test.
        alone: It needs neither: the names of the deployment, to look into.
        walked: It walks its program from the numbers of `:at:`.
        also: Keys of `:given:` that it needs besides a program.
    """

    needs: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, Test]] = field(default_factory=dict)
    program: bool = False
    tensor: bool = False
    alone: bool = False
    walked: bool = False
    also: tuple[str, ...] = ()


def _of(kind: Any, fits: Test = lambda _value, _given: True) -> Test:
    """The test of a value that is of *kind*, and *fits* what else is given."""
    adapter = TypeAdapter(kind, config=ConfigDict(strict=True))

    def test(value: Any, given: Given) -> bool:
        try:
            adapter.validate_python(value)
        except ValidationError:
            return False
        return fits(value, given)

    return test


def _list_at(given: Given, key: str) -> list[Any]:
    value = given.get(key)
    return value if isinstance(value, list) else []


def _rows(given: Given) -> list[list[object]]:
    values = _list_at(given, "values")
    return values if _matrix(values, given) else []


def _spreads(shape: list[int], to: list[Any]) -> bool:
    """True if the last axes of *to* are those of *shape*; an axis of 1 matches any."""
    return len(shape) <= len(to) and all(
        number in (1, other) for number, other in zip(shape[::-1], to[::-1], strict=False)
    )


def _fits_axes(row: list[float], given: Given) -> bool:
    """True if *row* fits on the axis of the lines: one by powers of ten begins above 0."""
    return given.get("plain") is True or min(row) > 0


POSITIVE = ", all of them above 0 unless 'plain: true' says that the axes count evenly"
Labels = list[str | int | float | bool]
_labels, _text, _flag, _even_axes = _of(Labels), _of(str), _of(bool), _of(Literal[True, False, "x"])
_numbers = _of(Annotated[list[FiniteFloat], Field(min_length=2, max_length=64)])
Finite = Annotated[list[FiniteFloat], Field(min_length=2, max_length=64)]
_places = _of(Finite, lambda row, given: len(set(row)) > 1 and (given.get("plain") == "x" or _fits_axes(row, given)))
_series = _of(
    Annotated[dict[str, Finite], Field(min_length=1, max_length=4)],
    lambda rows, given: all(len(row) == len(_list_at(given, "x")) and _fits_axes(row, given) for row in rows.values()),
)
_shape = _of(Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(max_length=4)])
_broadcast = _of(
    Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(max_length=4)],
    lambda shape, given: _spreads(shape, _list_at(given, "to")),
)
Factor = Annotated[list[Annotated[int, Field(ge=1, le=MOST_CELLS_PER_AXIS)]], Field(min_length=2, max_length=2)]
_factor = _of(Factor)
_second_factor = _of(Factor, lambda shape, given: _list_at(given, "left")[1:] == shape[:1])
_cell = _of(
    Annotated[list[NonNegativeInt], Field(min_length=2, max_length=2)],
    lambda cell, given: "left" not in given or all(map(lt, cell, _list_at(given, "left"))),
)
_steps = _of(Annotated[list[PositiveInt], Field(min_length=1)])
_matrix = _of(
    list[Annotated[list[FiniteFloat], Field(min_length=1)]],
    lambda rows, _: len({len(row) for row in rows}) == 1 and len(rows) * len(rows[0]) <= MOST_CELLS,
)
_target = _of(NonNegativeInt, lambda target, given: target < len(_list_at(given, "z")))
_logit_labels = _of(Labels, lambda labels, given: len(labels) == len(_list_at(given, "z")))
_row_labels = _of(Labels, lambda labels, given: len(labels) == len(_rows(given)))
_column_labels = _of(Labels, lambda labels, given: all(len(labels) == len(row) for row in _rows(given)))
_marks = _of(
    list[NonNegativeInt],
    lambda marks, given: len(marks) == len(_rows(given)) and all(map(lt, marks, map(len, _rows(given)))),
)
_name_lists = _of(
    list[Annotated[Labels, Field(min_length=1, max_length=MOST_NAMES)]],
    lambda lists, given: len(lists) == len(_list_at(given, "steps")),
)


PICTURE_KINDS: Mapping[str, Kind] = {
    "graph": Kind(keys={"highlight": ("a list of tensor names", _labels)}, program=True),
    "broadcast": Kind(
        ("from", "to"),
        {
            "from": ("a shape such as [27] that can be broadcast to the other", _broadcast),
            "to": ("a shape such as [32, 27]", _shape),
        },
        program=True,
        tensor=True,
    ),
    "heatmap": Kind(
        ("values",),
        {
            "values": ("a matrix of numbers: a list of rows of the same length", _matrix),
            "rows": ("a list with one label per row", _row_labels),
            "columns": ("a list with one label per column", _column_labels),
            "marks": ("a list with the number of one column per row", _marks),
            "sums": ("true or false", _flag),
        },
    ),
    "curves": Kind(
        ("values", "rows"),
        {
            "values": ("a matrix of numbers: a list of rows of the same length", _matrix),
            "rows": ("a list with one label per row", _row_labels),
            "columns": ("a list with one label per column", _column_labels),
        },
    ),
    "forces": Kind(
        ("z", "target"),
        {
            "z": ("a list of at least two numbers", _numbers),
            "target": ("the index of one entry of z", _target),
            "labels": ("a list with one label per entry of z", _logit_labels),
        },
    ),
    "lines": Kind(
        ("x", "lines"),
        {
            "x": (f"a list of at least two different numbers{POSITIVE}", _places),
            "lines": (f"a mapping of up to four names to lists, each with a number per entry of x{POSITIVE}", _series),
            "plain": ("true, false or x", _even_axes),
        },
    ),
    "samples": Kind(
        ("steps", "names"),
        {
            "steps": ("a list of whole numbers above 0", _steps),
            "names": ("a list of names for each of the steps", _name_lists),
            "known": ("a list of names", _labels),
        },
    ),
    "tape": Kind(program=True, walked=True),
    "slider": Kind(
        keys={"over": ("a list of at least two numbers", _numbers)},
        program=True,
        tensor=True,
        walked=True,
        also=("over",),
    ),
    "names": Kind(alone=True),
    "cells": Kind(
        ("left", "right"),
        {
            "left": (f"a shape such as [2, 2], of at most {MOST_CELLS_PER_AXIS} rows and columns", _factor),
            "right": (
                f"a shape such as [2, 2], of as many rows as 'left' has columns, and at most {MOST_CELLS_PER_AXIS}",
                _second_factor,
            ),
            "pick": ("row and column of one cell, such as [0, 1], counted from 0", _cell),
            "names": ("a list of names", _labels),
            "title": ("a text", _text),
        },
        program=True,
        tensor=True,
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
    for key in kind.also:
        if key not in given:
            options.faults.add(options.place, "missing-option", f"A picture {name!r} needs ':given: {{{key}: …}}'.")
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
