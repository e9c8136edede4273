"""What is kept of an earlier proof is used only where nothing has changed that it depends on."""

from grimp import build_graph

from app.check.findings_cache import PROVERS
from app.engine.grader_version import JUDGES

NO_OPINION = {"settings", "installation"}
"""What is imported and says nothing of a text; the one setting that does is part of the key."""


def rooms_behind(*modules: str) -> set[str]:
    graph = build_graph("app")
    behind = {one for module in modules for one in graph.find_upstream_modules(module)}
    return {one.split(".")[1] for one in behind} - NO_OPINION


def named(places: tuple[str, ...]) -> set[str]:
    return {place.removesuffix(".py") for place in places}


def test_every_room_that_proves_a_lesson_is_part_of_the_key() -> None:
    assert rooms_behind("app.course.prove", "app.course.parse") <= named(PROVERS)


def test_every_room_that_judges_is_part_of_what_a_verdict_is_kept_by() -> None:
    assert rooms_behind("app.engine.grade.engine") <= named(JUDGES)
