"""Editions that databases hold stay those of their exercises, whatever the classes are called."""

from pathlib import Path

import pytest

from app.content.blocks import exercises
from app.course.editions import STORED_NAMES, edition_of
from tests.courses import course_in

COURSE = course_in(Path(__file__).resolve().parents[1] / "web" / "course")
EDITIONS = {
    "dw-shape": "66234c300cad85c7",
    "half": "7200833630021226",
    "pick": "168b9dd9690c37dd",
    "db-axes": "e8d1c4893b7cfc9b",
    "dw-product": "08ee480a8936970d",
    "linear-backward": "59137d19e93726c6",
}
"""By exercise of the course of the tests; no name of a class may change them."""


@pytest.mark.parametrize(("name", "edition"), EDITIONS.items(), ids=EDITIONS)
def test_a_stored_edition_is_still_that_of_its_exercise(name, edition):
    lesson = COURSE.lesson("linear")

    assert edition_of(lesson, lesson.exercise(name)) == edition


def test_every_class_with_a_stored_name_is_there():
    assert all(hasattr(exercises, name) for name in STORED_NAMES)
