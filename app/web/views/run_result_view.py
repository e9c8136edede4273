"""A run without a verdict, as a laboratory.

What was printed, what expressions came to, and each tensor as a small table of its first entries, beside a map of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

from markupsafe import Markup

from app.content.text.sizes import format_shape
from app.engine.grader import RunResult
from app.grading.judge.line_shapes import LineShape
from app.grading.judge.origins import Origin
from app.grading.judge.run_reports import ShownValue
from app.web.pictures.difference_map import difference_strokes
from app.web.pictures.svg import svg_drawing, svg_tag
from app.web.verdict_words import run_title

LONG_SIDE, SHORT_SIDE = 84.0, 8.0
MOST_OPEN = 3


@dataclass(frozen=True, slots=True)
class CellView:
    """An entry; *came* is where it came from, in words."""

    text: str
    place: str
    came: str


@dataclass(frozen=True, slots=True)
class OriginTensor:
    """A tensor that entries came from: its frame, in which the place is lit."""

    name: str
    rows: int
    columns: int
    frame: Markup


@dataclass(frozen=True, slots=True)
class ValueView:
    """One value. *shape* is in the names of dims where they are known, *numbers* as it is; both empty for no tensor."""

    name: str
    shape: str
    numbers: str
    dtype: str
    text: str
    columns: tuple[int, ...]
    rows: tuple[tuple[str, tuple[CellView, ...]], ...]
    cut: bool
    picture: Markup
    operands: tuple[OriginTensor, ...]

    @property
    def came(self) -> str:
        """Origin of the first entry; empty if it is unknown."""
        first = self.rows[0][1][0] if self.rows else None
        return f"{self.name}{first.place} came from {first.came}." if first and first.came else ""


@dataclass(frozen=True)
class RunResultView:
    """A run with what it *required*."""

    run: RunResult
    required: tuple[str, ...]

    @property
    def outcome(self) -> str:
        return self.run.outcome

    @property
    def title(self) -> str:
        return run_title(self.run)

    @property
    def lines(self) -> tuple[LineShape, ...]:
        return self.run.told.lines

    @cached_property
    def _seen(self) -> tuple[ValueView, ...]:
        once = {shown_value.name: shown_value for shown_value in reversed(self.run.shown)}
        names = {name_shape.name: name_shape.shape for name_shape in self.run.told.names}
        origins: dict[str, tuple[Origin, ...]] = {}
        for origin in self.run.origins:
            origins[origin.name] = *origins.get(origin.name, ()), origin
        return tuple(
            _value_view(value, names.get(value.name, ""), origins.get(value.name, ()))
            for value in reversed(once.values())
        )

    @property
    def values(self) -> tuple[ValueView, ...]:
        """Values of expressions."""
        return tuple(value_view for value_view in self._seen if not value_view.name.isidentifier())

    @cached_property
    def asked(self) -> tuple[ValueView, ...]:
        """The gradients that the box asks for, in its order; of a box that asks for none, all names."""
        known = {value_view.name: value_view for value_view in self._seen}
        if not self.required:
            return tuple(value_view for value_view in self._seen if value_view.name.isidentifier())
        return tuple(known[name] for name in self.required if name in known)

    @property
    def folds(self) -> bool:
        """True if there are so many that all but the first stay closed."""
        return len(self.asked) > MOST_OPEN

    @property
    def others(self) -> tuple[ValueView, ...]:
        asked = {value_view.name for value_view in self.asked}
        return tuple(
            value_view for value_view in self._seen if value_view.name.isidentifier() and value_view.name not in asked
        )


@lru_cache(maxsize=512)  # a text is run again after a change to one of its lines: most of its values are as before
def _value_view(value: ShownValue, shape: str, origins: tuple[Origin, ...]) -> ValueView:
    wide = value.shape[-1] if value.shape else 1
    high = prod(value.shape[:-1])
    numbers = format_shape(value.shape) if value.rows or value.text.startswith("tensor") else ""
    return ValueView(
        name=value.name,
        shape=shape if shape != numbers else "",
        numbers=numbers,
        dtype=value.dtype,
        text=value.text,
        columns=tuple(range(len(value.rows[0]))) if value.rows else (),
        rows=tuple(_row(value, at, origins) for at in range(len(value.rows))),
        cut=bool(value.rows) and (wide > len(value.rows[0]) or high > len(value.rows)),
        picture=_map(value),
        operands=tuple(_operand(origin) for origin in origins if origin.shape),
    )


def _row(value: ShownValue, at: int, origins: Sequence[Origin]) -> tuple[str, tuple[CellView, ...]]:
    label = ", ".join(map(str, _unravelled(at, value.shape[:-1])))
    wide, cells = len(value.rows[0]), []
    for column, text in enumerate(value.rows[at]):
        inner = [label] * (len(value.shape) > 1) + [str(column)] * bool(value.shape)
        parts = [(origin.tensor, origin.places[at * wide + column : at * wide + column + 1]) for origin in origins]
        cells.append(CellView(text, f"[{', '.join(inner)}]" if inner else "", _came(parts)))
    return label if len(value.shape) > 1 else "", tuple(cells)


def _came(parts: Sequence[tuple[str, Sequence[str]]]) -> str:
    words = [_words(tensor, place[0]) for tensor, place in parts if place and place[0]]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _words(tensor: str, place: str) -> str:
    some = place.startswith("some of ")
    return f"some of {tensor}{place[8:]}" if some else tensor if place == "all of it" else f"{tensor}{place}"


def _unravelled(at: int, shape: Sequence[int]) -> list[int]:
    places: list[int] = []
    for size in reversed(shape):
        at, place = divmod(at, max(size, 1))
        places.insert(0, place)
    return places


def _map(value: ShownValue) -> Markup:
    """Every entry by colour, or evenly spaced ones, above zero and below."""
    if len(value.map) * max(map(len, value.map), default=0) < 2:
        return Markup()
    rows, columns = len(value.map), max(map(len, value.map))
    width, height = _frame(rows, columns)
    cells = svg_tag("g", *difference_strokes(value.map), transform=f"scale({width / columns:.3f} {height / rows:.3f})")
    return svg_drawing(width, height, [cells], f"Map of {value.name}: strong colours stand for large numbers.")


def _operand(origin: Origin) -> OriginTensor:
    rows, columns = prod(origin.shape[:-1]), origin.shape[-1]
    width, height = _frame(rows, columns)
    lit = svg_tag("rect", class_="lit", x=0.0, y=0.0, width=0.0, height=0.0)
    return OriginTensor(origin.tensor, rows, columns, svg_drawing(width, height, [lit]))


def _frame(rows: int, columns: int) -> tuple[float, float]:
    unit = LONG_SIDE / max(rows, columns, 1)
    return max(SHORT_SIDE, unit * columns), max(SHORT_SIDE, unit * rows)
