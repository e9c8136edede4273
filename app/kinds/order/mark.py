"""Orders: each line has a number on the page and a place. Right is every order in which lines read what is finished.

Steps in words stand as their author numbered them; those of one number may change places.
"""

from collections.abc import Sequence

from markupsafe import Markup

from app.content.blocks import Forward, OrderStep
from app.content.program.dependence import Dependency, first_unready, needs_by_rank, needs_of, read_line
from app.grading.quiz.feedback import (
    THAT_HOLDS,
    Feedback,
    Shapes,
    count_text,
    right_feedback,
    unread_feedback,
    word_list,
    wrong_feedback,
)
from app.kinds.order.block import OrderQuestion


def mark_order(quiz: OrderQuestion, values: Sequence[str], _shapes: Shapes, _forward: Forward | None) -> Feedback:
    places = places_in(quiz, values)
    missing = len(quiz.lines) - len(places)
    thing = "step" if quiz.steps else "line"
    if missing:
        return unread_feedback(f"{count_text(missing, f'{thing} has', f'{thing}s have')} no place yet.")
    same = sorted({place for place in places.values() if list(places.values()).count(place) > 1})
    if same:
        return unread_feedback(f"More than one {thing} has the place {word_list([str(number) for number in same])}.")
    order = sorted(places, key=places.__getitem__)
    unready = first_unready(order, needs_in(quiz))
    if unready is not None:
        line, needed = unready
        verdict = f"{thing.capitalize()} {order.index(line) + 1}{quiz.named(line)} comes too early."
        return (
            _early(quiz.steps[line], verdict)
            if quiz.steps
            else wrong_feedback(f"{verdict} {_why(quiz, order, line, needed)}")
        )
    others = "" if order == sorted(order) else " Other orders are right too."
    return right_feedback(f"{THAT_HOLDS if quiz.steps else 'Everything is finished when it is read.'}{others}")


def needs_in(quiz: OrderQuestion) -> Sequence[Sequence[Dependency]]:
    """For each line or step: what has to come before it."""
    return needs_by_rank([order_step.rank for order_step in quiz.steps]) if quiz.steps else needs_of(quiz.lines)


def _early(step: OrderStep, verdict: str) -> Feedback:
    return wrong_feedback(Markup(" ").join((Markup("<p>{}</p>").format(verdict), step.said)) if step.said else verdict)


def places_in(quiz: OrderQuestion, values: Sequence[str]) -> dict[int, int]:
    """By index of a line: its place. *values* are pairs of a line's number on the page and its place."""
    pairs = zip(values[::2], values[1::2], strict=False)
    whole = [(int(number), int(place)) for number, place in pairs if _whole(number) and _whole(place)]
    return {quiz.shown[number - 1]: place for number, place in whole if 0 < number <= len(quiz.shown)}


def as_values(quiz: OrderQuestion, order: Sequence[int]) -> list[str]:
    """The answer that puts the lines in *order*, as it comes from the page."""
    return [text for place, line in enumerate(order, start=1) for text in (str(quiz.shown.index(line) + 1), str(place))]


def _whole(text: str) -> bool:
    return text.isdecimal() and len(text) < 4


def _why(quiz: OrderQuestion, order: Sequence[int], line: int, needed: Sequence[Dependency]) -> str:
    """Say what the *line* that comes too early has to wait for."""
    done = order[: order.index(line)]
    need = next((dependency for dependency in needed if dependency.read), needed[0])
    said, other = _code(quiz.lines[line]), _code(quiz.lines[need.before]) + quiz.named(need.before)
    begun = any(need.name in read_line(quiz.lines[number]).writes for number in done)
    if need.read and begun:
        return f"{said} reads `{need.name}` before it is finished: {other} still has a share to pay in."
    if need.read:
        return f"{said} reads `{need.name}`, and no line has written it yet."
    if need.name in read_line(quiz.lines[need.before]).writes:
        return f"{said} changes `{need.name}`, and {other} has to come before."
    return f"{said} writes `{need.name}` again, and {other} still has to read it."


def _code(line: str) -> str:
    return f"`{' '.join(line.split())}`"
