"""`docs/architecture.md` is true: the walks that it tells are the ones that are gone, and none of them is long."""

from collections.abc import Callable, Iterator

import pytest

from app.sandbox.runner import Jail
from tests.house import floors
from tests.walks import COURSE, HEADINGS, MOST, PAGE, ROOT, gone, pages_of_the_course, written


@pytest.fixture(scope="module")
def found(jail: Jail) -> dict[str, list[str]]:
    return gone(jail)


@pytest.mark.parametrize("walk", HEADINGS)
def test_a_walk_enters_no_more_files_than_a_person_can_follow(found: dict[str, list[str]], walk: str) -> None:
    assert len(found[walk]) <= MOST[walk], found[walk]


@pytest.mark.parametrize("walk", HEADINGS)
def test_the_page_tells_the_walk_as_it_is_gone(found: dict[str, list[str]], walk: str) -> None:
    told = written(PAGE.read_text("utf-8"))

    assert set(told[walk]) == set(found[walk]), "python -m tests.walks writes them anew"


@pytest.fixture(scope="module")
def files_of(jail: Jail) -> Iterator[Callable[[str], list[str]]]:
    with pages_of_the_course(jail) as files_of:
        yield files_of


@pytest.mark.in_turn
@pytest.mark.parametrize("slug", [lesson.slug for lesson in COURSE.lessons])
def test_no_page_enters_more_files_than_a_person_can_follow(files_of: Callable[[str], list[str]], slug: str) -> None:
    files = files_of(slug)

    assert len(files) <= MOST["page"], files


def test_the_picture_shows_every_room() -> None:
    page = PAGE.read_text("utf-8")
    rooms = [one.name for one in (ROOT / "app").iterdir() if (one / "__init__.py").exists()]
    rooms += [
        one.name
        for room in ("content", "grading", "engine", "web")
        for one in (ROOT / "app" / room).iterdir()
        if (one / "__init__.py").exists()
    ]

    assert [room for room in rooms if f"`{room}`" not in page] == []


def test_content_stands_on_nine_floors_of_imports_at_most() -> None:
    assert floors("app.content") <= 9
