"""What is kept of an earlier proof is used only where nothing has changed that it depends on."""

import shutil
from pathlib import Path

from app.check.findings_cache import PROVERS, FindingsCache
from app.content.blocks import Lesson
from app.course.course import load_course
from app.engine.grader_version import JUDGES
from tests.courses import ARCHITECTURES
from tests.quick import import_graph

NO_OPINION = {"cache", "settings", "installation"}
"""What is imported and says nothing of a text; the one setting that does is part of the key."""


def rooms_behind(*modules: str) -> set[str]:
    graph = import_graph()
    behind = {one for module in modules for one in graph.find_upstream_modules(module)}
    return {one.split(".")[1] for one in behind} - NO_OPINION


def named(places: tuple[str, ...]) -> set[str]:
    return {place.removesuffix(".py") for place in places}


def test_every_room_that_proves_a_lesson_is_part_of_the_key() -> None:
    assert rooms_behind("app.course.prove", "app.course.parse") <= named(PROVERS)


def test_every_room_that_judges_is_part_of_what_a_verdict_is_kept_by() -> None:
    assert rooms_behind("app.engine.grade.engine") <= named(JUDGES)


def test_a_lesson_whose_data_changed_is_proved_anew(tmp_path: Path) -> None:
    course, cache = tmp_path / "course", FindingsCache(tmp_path / "checked")
    shutil.copytree(ARCHITECTURES, course)
    file = next(course.glob("*/*.csv"))

    def lesson() -> Lesson:
        return next(one for one in load_course(course).lessons if f":data: {file.name}" in one.source)

    cache.keep(lesson(), [], [])
    before = cache.of(lesson(), [])
    *rows, last = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*rows, rows[-1]]), "utf-8")

    assert before == []
    assert last != rows[-1]
    assert cache.of(lesson(), []) is None
