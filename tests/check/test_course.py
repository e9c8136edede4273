"""The course of this repository is proved: what changed and a twelfth at each turn; with mutants in `make prove`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.content.blocks import Lesson
from tests.check.proved_lessons import TURNS, digest, keep, kept_lessons, to_prove, todays_turn
from tests.check.test_prove import proved
from tests.courses import LESSONS, course_in
from tests.graders import SharedGraders

COURSE = course_in(LESSONS).lessons
UNITS = list(dict.fromkeys(Path(lesson.place.path).parent.name for lesson in COURSE))


def faults(lessons: Sequence[Lesson], graders: SharedGraders, *, mutate: bool) -> list[str]:
    others = [lesson for lesson in COURSE if lesson not in lessons]
    findings = proved(lessons, graders, mutate=mutate, reach=others)
    return [str(one) for one in findings if one.level != "notice"]


def test_what_changed_of_the_course_and_a_twelfth_of_it_is_proved(graders: SharedGraders) -> None:
    assert faults(to_prove(COURSE, kept_lessons(), todays_turn()), graders, mutate=False) == []


@pytest.mark.prove
@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_of_the_course_is_proved_with_mutants(graders: SharedGraders, unit: str) -> None:
    lessons = [lesson for lesson in COURSE if Path(lesson.place.path).parent.name == unit]

    assert faults(lessons, graders, mutate=True) == []
    keep(lessons, COURSE)


ALL_KEPT = {lesson.name: digest(lesson, COURSE) for lesson in COURSE}


def test_every_lesson_has_its_turn() -> None:
    turns = [to_prove(COURSE, ALL_KEPT, turn) for turn in range(TURNS)]

    assert sorted(lesson.name for turn in turns for lesson in turn) == sorted(lesson.name for lesson in COURSE)


def test_a_lesson_is_proved_again_when_it_or_what_it_uses_changes() -> None:
    used = next(lesson for lesson in COURSE if any(f"{lesson.name}#" in one.source for one in COURSE))
    using = {one.name for one in COURSE if f"{used.name}#" in one.source and one is not used}
    course = [replace(one, source=f"{one.source}\n") if one is used else one for one in COURSE]

    found = {lesson.name for lesson in to_prove(course, ALL_KEPT, TURNS)}

    assert found == {used.name, *using}
    assert using


def test_proofs_are_kept_beside_others_unless_their_lesson_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "proved.toml"
    file.write_text('no-such-lesson = "0"\n', "utf-8")

    keep(COURSE[:2], COURSE, file)
    keep(COURSE[2:3], COURSE, file)

    assert kept_lessons(file) == {lesson.name: digest(lesson, COURSE) for lesson in COURSE[:3]}
    assert [lesson.name for lesson in to_prove(COURSE, kept_lessons(file), TURNS)] == [
        lesson.name for lesson in COURSE[3:]
    ]
