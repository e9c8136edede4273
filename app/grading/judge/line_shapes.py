"""Inlay shapes: the shape that each line gives, in dim names, shown at its end while the learner types.

Read from the text alone, on the lesson's own sizes and on the hidden ones beside them: a size that is the one of a dim,
or follows from dims in the same way, on all of them is called by it. What cannot be told is silent.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from app.bindings import root_of
from app.content.blocks import Forward
from app.content.text.sizes import format_shape
from app.grading.judge.syntax_recovery import blank_unparsable_lines
from app.grading.operations.collisions import CollisionError
from app.grading.reading.line_reader import KeepLine, LineReader, Saw, line_texts, read_anew
from app.grading.reading.shape_inference import read_program, read_small
from app.grading.reading.size_words import Sizes, size_words
from app.syntax import (
    Statement,
    called_name,
    elements_of,
    every_name_in,
    expression_in,
    is_assignment,
    owner_of,
    parse_code,
    source_text,
    targets_of,
)

_NEWLINE = re.compile(r"\r\n?|\n")
MOST_PARTS = 4
MOST_NAMES = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape:
    """Shape at the end of *line*, from 1.

    Args:
        text: Such as `(D, H) like W`, or `(H, D), W is (D, H)`; of a name that is no gradient, its shape alone.
        fits: Whether the gradient that the line writes has the shape of its tensor; None where it writes none.
        start, end: Of shapes that cannot meet, the place: line and column of each end, from 1 and from 0.
    """

    line: int
    text: str
    fits: bool | None = None
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None

    @property
    def collides(self) -> bool:
        return self.start is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameShape:
    """A name in scope: its shape in the names of dims and in numbers, and where it was *made*.

    Args:
        line: Of the text, where it is the learner's own; 0 for one that is given.
        made: The statement of the forward program; empty for an input, and for the learner's own.
    """

    name: str
    shape: str
    numbers: str
    line: int = 0
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InlayShapes:
    """Inlay shapes of one text."""

    lines: tuple[LineShape, ...] = ()
    names: tuple[NameShape, ...] = ()


@dataclass(frozen=True)
class ShapeContext:
    """Context in which the shapes of a text are inferred.

    Args:
        scopes: What stands in scope, on the lesson's own sizes first; more of them give names to sizes. Where the
            lesson's own are too large to be read on, it is the others alone.
        dims: The lesson's own sizes, and the others.
        made: By name of an intermediate: the statement that makes it.
        calls: Read after the text, such as a call of the function that it defines.
    """

    scopes: tuple[Mapping[str, Any], ...]
    dims: tuple[Mapping[str, int], ...] = ()
    made: Mapping[str, str] | None = None
    calls: str = ""

    @cached_property
    def called(self) -> Sequence[Statement]:
        """The statements of `calls`."""
        return parse_code(self.calls).body

    @cached_property
    def given(self) -> tuple[NameShape, ...]:
        """The names in scope, as they are before the text."""
        made = self.made or {}
        given_rows = []
        for name, value in self.scopes[0].items():
            if isinstance(value, np.ndarray):
                values = [scope.get(name) for scope in self.scopes]
                shape, numbers = self.named(values), self.numbers(values)
                given_rows.append(NameShape(name=name, shape=shape, numbers=numbers, made=made.get(name, "")))
        return tuple(given_rows[:MOST_NAMES])

    @property
    def is_carried(self) -> bool:
        """True if the lesson's own sizes are too large to be read on: they follow from the others, by their names."""
        return len(self.scopes) < len(self.dims)

    @cached_property
    def words(self) -> Mapping[Sizes, tuple[str, int]]:
        """By the sizes that it has, one for each scope: what a size is called, and what it is in the lesson."""
        words = size_words(self.dims) if len(self.dims) > 1 else {}
        return {sizes[-len(self.scopes) :]: (word, sizes[0]) for sizes, word in words.items()}

    def named(self, values: Sequence[Any]) -> str:
        """The shape of one tensor, which *values* are on each of the scopes."""
        return self.named_shape(_shapes(values))

    def named_shape(self, shapes: Sequence[Sizes | None]) -> str:
        """A shape, which is one of *shapes* on each of the scopes, in the names of dims; the first is known."""
        return format_shape([self.words.get(each, (self._number(each), 0))[0] for each in self._axes(shapes)])

    def numbers(self, values: Sequence[Any]) -> str:
        """The shape of one tensor as it is in the lesson."""
        if not self.is_carried:
            return format_shape(values[0].shape)
        sizes = [self.words.get(each, ("", self._number(each)))[1] for each in self._axes(_shapes(values))]
        return format_shape(sizes)

    def _number(self, sizes: Sizes) -> str:
        """A size that has no name."""
        return "?" if self.is_carried and (len(sizes) == 1 or len(set(sizes)) > 1) else str(sizes[0])

    def _axes(self, shapes: Sequence[Sizes | None]) -> list[Sizes]:
        """By axis: its size on each of the scopes, or on the first alone where the others are not known."""
        first = shapes[0] or ()
        known = [shape for shape in shapes if shape is not None and len(shape) == len(first)]
        return list(zip(*(known if len(known) == len(self.scopes) else [first]), strict=True))


def _shapes(values: Sequence[Any]) -> list[Sizes | None]:
    return [value.shape if isinstance(value, np.ndarray) else None for value in values]


def ground_of_program(forward: Forward, gradients: Sequence[str]) -> ShapeContext:
    """Context for a text about *forward*, with these *gradients* in scope."""
    here = read_program(forward, forward.dims)
    # Without sizes there are no others, on which anything could differ.
    smaller = [read_small(forward, shift) for shift in (0, 1) if forward.dims or here.too_large]
    dims = (dict(forward.dims), *(dims for dims, _ in smaller))
    readers = [*(() if here.too_large else (here,)), *(reader for _, reader in smaller)]
    scopes = [reader.scope for reader in readers]
    for scope in scopes:
        scope |= {name: scope[name[1:]] for name in gradients if isinstance(scope.get(name[1:]), np.ndarray)}
    made = {
        name: source_text(statement)
        for statement in parse_code(forward.source).body
        for target in (targets_of(statement) if is_assignment(statement) else ())
        for name in sorted(every_name_in(target))
    }
    return ShapeContext(tuple(scopes), dims, made)


def ground_of_calls(function: str, arguments: Sequence[str], case: str) -> ShapeContext:
    """Context for a text that defines *function*: the *arguments* that the code of a *case* makes."""
    reader = LineReader({})
    reader.read(_body(case)[0])
    scope = {name: item for name, item in reader.scope.items() if name in arguments}
    return ShapeContext((scope,), calls=f"{function}({', '.join(arguments)})")


def infer_line_shapes(code: str, ground: ShapeContext, keep: KeepLine = read_anew) -> InlayShapes:
    """Infer the inlay shapes of *code*, which may be any text.

    Args:
        keep: Keeps lines from one text to the next: with every key that is pressed one of them is new.
    """
    body, source = _body(code)
    if not body:
        return InlayShapes(names=ground.given)
    own = frozenset(statements_in(body))
    begin = partial(LineReader, texts=line_texts(own, source), keep=keep)
    seen = [_read_shapes(body, partial(begin, scope), ground.called, own) for scope in ground.scopes]
    lines: dict[int, LineShape] = {}
    names = {name_shape.name: name_shape for name_shape in ground.given}
    for at, (statement, given) in seen[0].items():
        values = [given, *(other.get(at, (None, None))[1] for other in seen[1:])]
        name = _subject(statement)
        line_shape = _line(statement, name, values, ground, source)
        if line_shape is not None and not (line_shape.line in lines and lines[line_shape.line].collides):
            lines[line_shape.line] = line_shape
        if isinstance(given, np.ndarray) and name:
            shape, numbers = ground.named(values), ground.numbers(values)
            names[name] = NameShape(name=name, shape=shape, numbers=numbers, line=statement.lineno)
    return InlayShapes(lines=tuple(lines[at] for at in sorted(lines)), names=tuple(names.values())[: 2 * MOST_NAMES])


def _body(code: str) -> tuple[list[Statement], list[str]]:
    try:
        try:
            body, source = parse_code(code).body, code
        except SyntaxError:
            source = blank_unparsable_lines(code)[0]
            body = parse_code(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], []
    return body, _NEWLINE.split(source)  # as the parser counts lines


def statements_in(body: Sequence[Statement]) -> Iterator[Statement]:
    """The statements of *body* and those inside of them; expressions hold none."""
    for statement in body:
        yield statement
        for field in ("body", "orelse"):
            yield from statements_in(getattr(statement, field, ()))


Seen = dict[tuple[int, int], tuple[Statement, Any]]


def _read_shapes(
    body: Sequence[Statement],
    begin: Callable[[Saw], LineReader],
    calls: Sequence[Statement],
    own: Collection[Statement],
) -> Seen:
    """By place of a statement: what it gave at last; shapes that could not meet stay."""
    seen: Seen = {}

    def saw(statement: Statement, given: Any) -> None:
        at = statement.lineno, statement.col_offset
        if statement in own and not isinstance(seen.get(at, (None, None))[1], CollisionError):
            seen[at] = statement, given

    reader = begin(saw)
    for statement in body:
        if not reader.read([statement]):  # half of a loop says nothing of the whole
            return {at: item for at, item in seen.items() if at[0] < statement.lineno}
    if calls:
        reader.read(calls)
    return seen


def _line(
    statement: Statement, name: str, values: Sequence[Any], ground: ShapeContext, source: Sequence[str]
) -> LineShape | None:
    line, given = statement.end_lineno or statement.lineno, values[0]
    match given:
        case CollisionError():
            return _collision(line, given, values, ground, source)
        case np.ndarray():
            text, fits = ground.named(values), None
            about = name[1:] if name.startswith("d") else ""
            of_tensor = [scope.get(about) for scope in ground.scopes]
            if isinstance(of_tensor[0], np.ndarray):
                # On every size: where two of them are equal here, a transpose fits here only.
                fits = all(
                    value.shape == own.shape
                    for value, own in zip(values, of_tensor, strict=True)
                    if isinstance(value, np.ndarray) and isinstance(own, np.ndarray)
                )
                if fits and not given.shape:
                    return None  # a number like every other there: nothing is told by it
                text = f"{text} like {about}" if fits else f"{text}, {about} is {ground.named(of_tensor)}"
            return LineShape(line=line, text=text, fits=fits)
        case tuple() if 0 < len(given) <= MOST_PARTS and all(isinstance(item, np.ndarray) for item in given):
            several = [
                [value[at] if isinstance(value, tuple) and len(value) == len(given) else None for value in values]
                for at in range(len(given))
            ]
            return LineShape(line=line, text=", ".join(ground.named(each) for each in several))
    return None


def _collision(
    line: int, met: CollisionError, values: Sequence[Any], ground: ShapeContext, source: Sequence[str]
) -> LineShape | None:
    if met.place is None:
        return None
    same = [each for each in values if isinstance(each, CollisionError) and each.how == met.how]
    name, other = (ground.named_shape(shapes) for shapes in zip(*(each.shapes for each in same), strict=True))
    why = ""
    if met.axes is not None:
        why = f": {_axis_word(name, met.axes[0])} is not {_axis_word(other, met.axes[1])}"
    text = f"{name} {met.how} {other}{why}" if not met.how[0].isalpha() else f"{name} and {other} cannot {met.how}{why}"
    left, right = met.place
    start, end = (left.lineno, left.col_offset), (right.end_lineno or right.lineno, right.end_col_offset or 0)
    return LineShape(line=line, text=text, start=(start[0], _column(source, start)), end=(end[0], _column(source, end)))


def _axis_word(shape: str, at: int) -> str:
    return shape.strip("()").split(",")[at].strip()


def _column(source: Sequence[str], at: tuple[int, int]) -> int:
    """In characters, which an editor counts in; the parser counts bytes."""
    line = source[at[0] - 1] if at[0] <= len(source) else ""
    return len(line.encode()[: at[1]].decode("utf-8", "replace"))


def _subject(statement: Statement) -> str:
    """The one name that *statement* writes; empty where it writes none, or several."""
    targets, call = targets_of(statement), expression_in(statement)
    if call is not None and owner_of(call) is not None and called_name(call).endswith("_"):
        targets = [call]
    names = root_of(targets[0]) if len(targets) == 1 and elements_of(targets[0]) is None else ()
    return next(iter(names), "")
