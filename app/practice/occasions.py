"""Occasions on which items are drawn besides practice: recall as a lesson begins, a try before a unit, and two forms of
six that tell what was gained between them. Practice draws and serves the items; here is what each occasion asks for.

Nothing here ever locks anything: who does not want to be asked goes on.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.content.blocks import Lesson, Unit
from app.practice.session_plans import ItemRequest, SessionPlan, Slot
from app.practice.taught import families_of, operations_in, operations_of, programs_asked, taught_by
from app.store.cards import RECALL

READY = "ready/"
BEFORE, AFTER = "before", "after"
RECALL_FORMS = ("which", "shapes")
READY_FORMS = ("which", "shapes", "fade")
OTHERWISE = "shapes"
"""The form where a program has not the one that is asked for: every program has it."""
SUMMED = "broadcast"
"""The family of what shapes and sums are asked about: of a tensor that was copied."""
MINUTES = 60
SEVERAL = 2
"""Programs with a family of operations, from which on a lesson is about it."""

FORM_SLOTS: tuple[Slot, ...] = (
    Slot("matmul", "fade", 1, (4, 5)),
    Slot("gate", "which", 1, (4, 5)),
    Slot("layout", "shapes", 1, (4, 5)),
    Slot("activation", "fade", 1, (4, 5)),
    Slot("fork", "which", 2, (13, 14)),
    Slot("broadcast", "shapes", 2, (15, 16)),
)
"""The six items of either form: the same families in the same shapes, and programs as hard as each other."""


def is_measuring(purpose: str) -> bool:
    """True if an item of this *purpose* finds out what is known; it opens no card and rates none."""
    return bool(purpose) and not purpose.startswith(RECALL)


def requests_from(slots: Sequence[Slot], at: int) -> list[ItemRequest]:
    """Requests of the item number *at*, from 0; another slot follows only where its points are open as well."""
    turned = [*slots[at % len(slots) :], *slots[: at % len(slots)]]
    banded = turned[0].points != Slot("", "").points
    return [
        ItemRequest((slot.family, ""), turned[0].form, slot.level, slot.points, OTHERWISE)
        for slot in turned[: 1 if banded else None]
    ]


def recall_plan(lesson: Lesson, earlier: Iterable[str]) -> SessionPlan:
    """Two questions on the lessons *earlier*, as *lesson* begins."""
    return SessionPlan(
        items=len(RECALL_FORMS),
        minutes=MINUTES,
        purpose=f"{RECALL}{lesson.name}",
        back=lesson.address,
        lessons=tuple(earlier),
        forms=RECALL_FORMS,
    )


def ready_plan(unit: Unit, lessons: Iterable[Lesson], given: int) -> SessionPlan | None:
    """Three items of what the *lessons* before *unit* teach, first of what the unit works with; None for fewer.

    Args:
        given: How many the learner was given before it: three that were begun are made full.
    """
    teachers = lesson_by_family(lessons)
    used = {family for lesson in unit.lessons for family in families_taught(lesson)}
    families = random.sample(sorted(teachers), len(teachers))
    families.sort(key=lambda family: family not in used)
    if len(families) < len(READY_FORMS):
        return None
    forms = READY_FORMS[given % len(READY_FORMS) :]
    if SUMMED in families and "shapes" in forms:
        families.remove(SUMMED)
        families.insert(forms.index("shapes"), SUMMED)
    return SessionPlan(
        items=len(forms),
        minutes=MINUTES,
        purpose=f"{READY}{unit.slug}",
        back=f"/units/{unit.slug}#ready",
        lessons=tuple(dict.fromkeys(lesson.name for lesson in lessons)),
        slots=tuple(Slot(family, form) for family, form in zip(families, forms, strict=False)),
    )


def form_plan(purpose: str, back: str, lessons: Iterable[Lesson], given: int) -> SessionPlan | None:
    """One of the two forms, `before` or `after`, from item number *given* on; None where all of it was given.

    Args:
        lessons: Those between the two, which teach what is asked.
    """
    slots = FORM_SLOTS[given:]
    names = tuple(lesson.name for lesson in lessons)
    plan = SessionPlan(items=len(slots), minutes=MINUTES, purpose=purpose, back=back, lessons=names, slots=slots)
    return plan if slots else None


def can_be_measured(lessons: Iterable[Lesson]) -> bool:
    """True if *lessons* teach all that the two forms ask."""
    taught = {family for lesson in lessons for family in families_taught(lesson)}
    return {slot.family for slot in FORM_SLOTS} <= taught


def families_taught(lesson: Lesson) -> frozenset[str]:
    """Families of operations in the programs that *lesson* asks about."""
    return families_of(operations_of(taught_by(lesson)))


def lesson_by_family(lessons: Iterable[Lesson]) -> Mapping[str, Lesson]:
    """By family, the lesson that teaches it: the first with several programs of it, or the first with one."""
    teachers: dict[str, tuple[int, Lesson]] = {}
    for lesson in lessons:
        programs = Counter(
            family for program in programs_asked(lesson) for family in families_of(operations_in(program))
        )
        for family, count in programs.items():
            if min(count, SEVERAL) > teachers.get(family, (0, lesson))[0]:
                teachers[family] = min(count, SEVERAL), lesson
    return {family: lesson for family, (_, lesson) in teachers.items()}
