"""Checks of the first box of a course: one blank, and no sizes to think of."""

import re
from collections.abc import Sequence

from app.check.findings import Finding
from app.content.blocks import Grad, Lesson

BLANK_PATTERN = re.compile(r"_{2,}(?!\w)")


def prove_order_of(lessons: Sequence[Lesson]) -> list[Finding]:
    """A warning for each of *lessons*, a whole course in its order, that requires one which comes later."""
    positions = {lesson.name: number for number, lesson in enumerate(lessons)}
    return [
        Finding(
            place, "warning", "later", f"{name!r} comes after this lesson. Renumber them, or require an earlier one."
        )
        for lesson in lessons
        for name, place in zip(lesson.requires, lesson.requires_places, strict=True)
        if positions.get(name, -1) > positions[lesson.name]
    ]


def prove_beginning(lessons: Sequence[Lesson]) -> list[Finding]:
    """A warning about the first code box of *lessons*, a whole course in its order, where it asks for too much."""
    first = next(((lesson, box) for lesson in lessons for box in lesson.boxes), None)
    if first is None:
        return []
    lesson, box = first
    forward = lesson.forward(box.forward) if isinstance(box, Grad) else None
    blanks = len(BLANK_PATTERN.findall(box.starter.source))
    faults = [f"{blanks} blanks"] if blanks != 1 else []
    faults += [f"the dims {', '.join(forward.dims)}"] if forward and forward.dims else []
    if not faults:
        return []
    message = f"The first box of the course has {' and '.join(faults)}. Begin with one blank and single numbers."
    return [Finding(box.place, "warning", "first-box", message)]
