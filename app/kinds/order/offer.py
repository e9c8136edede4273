"""Lines to put in order, as the page shows them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.kinds.order.block import OrderQuestion
from app.kinds.order.mark import places_in


@dataclass(frozen=True, slots=True)
class LineToPlace:
    """A line of an order with its *number* on the page, and the *place* that was answered, or nothing.

    *stretch* is the name of the step that it is part of.
    """

    number: int
    source: str
    place: str
    html: str = ""
    stretch: str = ""


Lines = tuple[LineToPlace, ...]


def offer_order(quiz: OrderQuestion, *_: object) -> Mapping[str, Lines | Callable[[Sequence[str]], Lines]]:
    """The lines as they stand at first, and as they are placed by an answer."""
    return {"lines": place_lines(quiz, ()), "placed": partial(place_lines, quiz)}


def place_lines(quiz: OrderQuestion, given: Sequence[str]) -> Lines:
    """The lines by their places in what was *given*; those without one come last."""
    places = places_in(quiz, given) if given else {}
    shown = list(enumerate(quiz.shown, start=1))
    rows = sorted(shown, key=lambda row: places.get(row[1], len(shown) + 1))
    said: list[str] = [order_step.html for order_step in quiz.steps] or [""] * len(quiz.lines)
    stretches = quiz.stretches or [""] * len(quiz.lines)
    return tuple(
        LineToPlace(at, quiz.lines[line], str(places.get(line, "")), said[line], stretches[line]) for at, line in rows
    )
