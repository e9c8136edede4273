"""What an author is told in a preview, and who may see one."""

import asyncio
import sys
from pathlib import Path

import pytest
import typer
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.cli.preview import around
from app.content.blocks import Course
from app.course.parse import parse_lesson
from app.settings import Settings
from app.web.application import create_app
from app.web.author_preview import Preview, PreviewFinding, said_in
from app.web.views.answer_key import answer_key
from app.web.views.fault_places import HEAD_SELECTOR, place_on_page
from tests.web.conftest import FakeGrader

LINEAR = Path(__file__).parent / "course/1-layers/01-linear.md"
FOUND = '{"file": "a.md", "line": 3, "column": 1, "level": "error", "code": "math", "message": "Lost."}'


@pytest.mark.parametrize(
    ("out", "err", "said"),
    [
        ("", "", ()),
        ("", "proving, 3 of 4", ()),
        (f"{FOUND}\n", "", (PreviewFinding("a.md", 3, "error", "Lost."),)),
        ("", "Traceback\nKeyError: 1", (PreviewFinding("check", 0, "error", "KeyError: 1"),)),
    ],
)
def test_what_a_check_printed_is_told_and_so_is_its_own_failure(
    out: str, err: str, said: tuple[PreviewFinding, ...]
) -> None:
    assert said_in(out, err, failed="Traceback" in err) == said


@pytest.fixture
def app(settings: Settings, course: Course) -> FastAPI:
    return create_app(settings, course, FakeGrader(), drafts=True, framed=True)


def test_the_newest_check_is_the_one_that_is_told(app: FastAPI) -> None:
    """A file that is saved again while it is checked is checked anew."""
    slow = "import time; time.sleep(600)"
    preview = Preview(app, LINEAR, (sys.executable, "-c", slow))

    async def saved_twice() -> tuple[PreviewFinding, ...]:
        preview.changed()
        await asyncio.sleep(0)
        preview._command = (sys.executable, "-c", f"print({FOUND!r})")
        preview.changed()
        while preview.proving:
            await asyncio.sleep(0.01)
        return preview.said

    assert asyncio.run(asyncio.wait_for(saved_twice(), 300)) == (PreviewFinding("a.md", 3, "error", "Lost."),)
    assert preview.page == 2


def test_nothing_new_sends_nothing_and_a_preview_may_be_framed(
    app: FastAPI, client: TestClient, course: Course
) -> None:
    Preview(app, LINEAR, ())

    page = client.get("/preview")

    assert "frame-ancestors 'self'; frame-src 'self'" in page.headers["content-security-policy"]
    assert client.get("/preview/told?seen=0").status_code == 204
    assert client.get("/preview/told?seen=1").status_code == 200
    assert client.get("/preview/key").text.count('class="answer-key"') == len(course.lessons[0].exercises)


def test_learners_have_no_preview_and_no_page_in_a_frame(settings: Settings, course: Course) -> None:
    with TestClient(create_app(settings, course, FakeGrader())) as client:
        assert client.get("/preview/key").status_code == 404
        assert "frame-ancestors 'none'" in client.get("/").headers["content-security-policy"]


def test_an_answer_key_tells_what_is_right_of_every_exercise(course: Course) -> None:
    keys = answer_key(course.lessons[0])

    assert [key.name for key in keys] == [one.name for one in course.lessons[0].exercises]
    for key in keys:
        words = [word for word, _ in key.told] + [str(word) for word, _ in key.codes]
        assert "Right" in words or "Solution" in words, key.name


@pytest.mark.parametrize("name", ["none.md", "lost.md", "1-unit/unit.md"])
def test_a_file_that_stands_in_no_unit_has_no_preview(tmp_path: Path, name: str) -> None:
    (tmp_path / "1-unit").mkdir()
    for one in ("lost.md", "1-unit/unit.md"):
        (tmp_path / one).write_text("")

    with pytest.raises((typer.Exit, SystemExit)):
        around(tmp_path / name, Settings(data_dir=tmp_path))


def test_a_preview_keeps_its_answers_apart_from_those_of_learners(tmp_path: Path) -> None:
    (tmp_path / "1-unit").mkdir()
    (tmp_path / "1-unit" / "01-first.md").write_text("")
    outside = Settings(data_dir=tmp_path, database_url="postgresql+psycopg://a/b", replicas=3, prefix="/learn")

    here = around(tmp_path / "1-unit" / "01-first.md", outside)

    assert here.lessons == tmp_path.resolve()
    assert here.prefix == ""
    assert here.resolved_database_url == f"sqlite+aiosqlite:///{tmp_path / 'preview' / 'backhand.db'}"


SHOWN = {
    1: HEAD_SELECTOR,
    9: "#lesson > :nth-child(1 of .prose) > :nth-child(1)",
    15: '[id="linear"]',
    31: '[id="dw-shape"]',
}


@pytest.mark.parametrize("above", [0, 3])
@pytest.mark.parametrize(("line", "shown"), SHOWN.items())
def test_a_line_is_shown_where_its_block_is_however_much_came_above_it(
    course: Course, line: int, shown: str, above: int
) -> None:
    lesson = course.lessons[0]
    first, *others = lesson.source.split("\n")
    text = "\n".join((first, *["new"] * above, *others))

    assert place_on_page(lesson, text, line + above * (line > 1)) == shown


def test_a_line_that_the_page_lacks_belongs_to_what_stands_above_it(course: Course) -> None:
    lesson = course.lessons[0]
    lines = lesson.source.split("\n")
    text = "\n".join((*lines[:15], "Lost.", "And lost.", *lines[15:]))

    assert place_on_page(lesson, text, 17) == '[id="linear"]'


def test_a_paragraph_has_a_place_of_its_own() -> None:
    front = "---\ntitle: A\nid: a\nestimate: 5 min\n---\n"
    text = f"{front}One\nand the same.\n\n## Two\n\n- three\n\n- still three\n\nFour.\n"
    lesson, _ = parse_lesson(text, "1-unit/01-a.md")
    assert lesson is not None

    places = [place_on_page(lesson, text, line)[-2:-1] for line in (6, 7, 9, 11, 13, 15)]

    assert places == ["1", "1", "2", "3", "3", "4"]


def test_findings_of_other_files_or_of_the_check_have_no_place_here(app: FastAPI) -> None:
    preview = Preview(app, LINEAR, ())

    assert not preview.place_on_page(PreviewFinding("elsewhere/01-linear.md", 9, "error", "Lost."))
    assert not preview.place_on_page(PreviewFinding("check", 0, "error", "KeyError: 1"))
    assert preview.place_on_page(PreviewFinding(str(LINEAR), 9, "error", "Lost."))
