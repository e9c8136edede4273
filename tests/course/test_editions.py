"""Editions that databases hold stay those of their exercises, whatever the classes are called."""

import shutil
from pathlib import Path

import pytest

from app.content.blocks import Course, exercises
from app.course.editions import STORED_NAMES, edition_of, wordings_of
from tests.courses import course_in

FOLDER = Path(__file__).resolve().parents[1] / "web" / "course"
COURSE = course_in(FOLDER)
FIRST_RELEASE = FOLDER.parents[1] / "compatibility" / "1.0.0" / "course"
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


@pytest.mark.parametrize(("name", "edition"), [("agree", "ccbb784452ca198e"), ("doubled", "af1126b6cdcf3b26")])
def test_a_box_that_asks_for_no_gradients_keeps_its_edition(name, edition):
    (lesson,) = (lesson for lesson in course_in(FIRST_RELEASE).lessons if name in lesson.named)

    assert edition_of(lesson, lesson.named[name]) == edition


def test_every_class_with_a_stored_name_is_there():
    assert all(hasattr(exercises, name) for name in STORED_NAMES)


def test_words_of_one_exercise_change_its_wording_and_no_other(tmp_path: Path) -> None:
    before = wordings_of(COURSE)

    after = wordings_of(_changed(tmp_path, "That is the other way round.", "Turn it round."))

    assert {place for place in before if after[place] != before[place]} == {("linear-layer", "half")}


def test_prose_between_exercises_changes_no_wording(tmp_path: Path) -> None:
    assert wordings_of(_changed(tmp_path, ":::{choice} pick", "New words.\n\n:::{choice} pick")) == wordings_of(COURSE)


def _changed(folder: Path, old: str, new: str) -> Course:
    copy = shutil.copytree(FOLDER, folder / "course")
    file = copy / "1-layers" / "01-linear.md"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    return course_in(copy)
