"""The gradients of an exam, one lamp for each: lit when it was right, and a link to where it is practised."""

from collections.abc import Collection
from dataclasses import dataclass

from app.content.blocks import Grad, Unit
from app.web.views.course_progress import Solved


@dataclass(frozen=True, slots=True)
class Lamp:
    """One gradient of the exam; *url* leads to the box where it is first asked for."""

    name: str
    done: bool
    url: str


def gradients_of(unit: Unit, exam: Grad, solved: Solved, right: Collection[str] = ()) -> tuple[Lamp, ...]:
    """The gradients of *exam*; one is done that is among those *right*, or that a solved box of *unit* asks for."""
    done = set(right)
    first: dict[str, str] = {}
    for lesson in unit.lessons:
        for box in (grad for grad in lesson.exercises if isinstance(grad, Grad)):
            done |= set(box.require) if box.name in solved.get(lesson.name, ()) else set()
            first = dict.fromkeys(box.require, f"{lesson.address}#{box.name}") | first
    return tuple(Lamp(name, name in done, first[name]) for name in exam.require)
