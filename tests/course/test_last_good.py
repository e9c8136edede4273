"""A course that is read again: what is faulty stays as it was."""

import shutil
from pathlib import Path

import pytest

from app.content.blocks import Course
from app.course.course import load_course
from app.course.last_good import reload_course

TOP = "---\ntitle: {}\nid: {}\nestimate: 1 min\n---\n\n"


def write(folder: Path, name: str, text: str, title: str = "") -> None:
    (folder / "1-unit" / f"{name}.md").write_text(TOP.format(title or name, name.partition("-")[2]) + text + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "1-unit").mkdir()
    (tmp_path / "1-unit" / "unit.md").write_text("---\ntitle: Unit\n---\n")
    write(tmp_path, "01-first", "One.")
    write(tmp_path, "02-second", "Two.")
    return tmp_path


def titles(course: Course) -> list[str]:
    return [one.title for one in course.lessons]


def test_what_is_sound_is_taken_up(folder):
    before = load_course(folder)
    write(folder, "01-first", "More.", "Changed")
    write(folder, "03-third", "Three.")

    course, errors = reload_course(before, folder)

    assert errors == ()
    assert titles(course) == ["Changed", "02-second", "03-third"]


@pytest.mark.parametrize("text", ["A lost $.", ":::{shap} x\n:::", "[gone](09-gone.md)"])
def test_a_faulty_lesson_stays_as_it_was_and_others_are_taken_up(folder, text):
    before = load_course(folder)
    write(folder, "01-first", text, "Broken")
    write(folder, "02-second", "Two.", "Changed")
    write(folder, "03-third", text)

    course, errors = reload_course(before, folder)

    assert titles(course) == ["01-first", "Changed"]
    assert {Path(one.place.path).name for one in errors} == {"01-first.md", "03-third.md"}


def test_a_lesson_that_was_deleted_is_gone(folder):
    before = load_course(folder)
    (folder / "1-unit" / "02-second.md").unlink()

    assert titles(reload_course(before, folder)[0]) == ["01-first"]


def test_a_faulty_page_of_a_unit_stays_as_it_was(folder):
    before = load_course(folder)
    (folder / "1-unit" / "unit.md").write_text("---\ntitle: [\n---\n")
    write(folder, "01-first", "One.", "Changed")

    course, errors = reload_course(before, folder)

    assert (course.units[0].title, titles(course)) == ("Unit", ["Changed", "02-second"])
    assert errors


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "gone"])
def test_a_course_that_cannot_be_read_stays_whole(folder, empty):
    before = load_course(folder)
    shutil.rmtree(folder)
    if empty:
        folder.mkdir()

    course, errors = reload_course(before, folder)

    assert course == before
    assert errors
