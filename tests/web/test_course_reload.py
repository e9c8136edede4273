"""A running server takes up what an author changes, and stays up whatever that is."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from app.cli.lost_lessons import lost_lessons
from app.course.course import load_course
from app.settings import Settings
from app.store import classes
from app.store.tables import Assignment
from app.web.application import create_app
from app.web.course_reload import CourseReload, ask_to_reload, await_reload, last_reload, process_file
from tests.waiting import SECONDS
from tests.web.conftest import FakeGrader

TOP = "---\ntitle: {}\nid: first\nestimate: 1 min\n{}---\n\n{}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    unit = tmp_path / "course" / "1-unit"
    unit.mkdir(parents=True)
    (unit / "unit.md").write_text("---\ntitle: Unit\n---\n")
    (unit / "01-first.md").write_text(TOP.format("First", "", "One."))
    return tmp_path / "course"


def change(folder: Path, title: str, text: str, more: str = "") -> None:
    (folder / "1-unit" / "01-first.md").write_text(TOP.format(title, more, text))


@pytest.fixture(params=[False, True], ids=["learners", "author"])
def served(request, folder, tmp_path):
    """The client, how to look again, and whether an author reads along."""
    course = load_course(folder)
    app = create_app(Settings(data_dir=tmp_path), course, FakeGrader(), drafts=request.param)
    with TestClient(app, base_url="http://localhost") as client:
        reloading = CourseReload(app, folder, course)
        yield client, lambda: client.portal.call(reloading.look), request.param


def test_a_change_is_served_and_former_addresses_lead_on(served, folder):
    client, look, _ = served
    change(folder, "Changed", "Two.", "was: [old-name]\n")
    before = client.get("/lessons/first").text, client.get("/lessons/old-name").status_code

    look()

    assert "Changed" not in before[0]
    assert before[1] == 404
    assert "Changed" in client.get("/lessons/first").text
    assert client.get("/lessons/old-name", follow_redirects=False).headers["location"].endswith("/lessons/first")


def test_of_a_faulty_lesson_the_last_good_state_shows_with_a_word(served, folder):
    client, look, author = served
    change(folder, "Changed", "A lost $.")
    look()

    pages = [client.get(path).text for path in ("/", "/lessons/first")]

    assert "<h1>First</h1>" in pages[1]
    assert all(("has no partner" in page) == author for page in pages)


def test_a_mended_lesson_is_taken_up(served, folder):
    client, look, _ = served
    for text in ("A lost $.", "A lost \\$."):
        change(folder, "Changed", text)
        look()

    page = client.get("/lessons/first").text

    assert "<h1>Changed</h1>" in page
    assert "has no partner" not in page


def test_a_draft_is_shown_to_its_author_alone(served, folder):
    client, look, author = served
    (folder / "1-unit" / "02-second.md").write_text(
        TOP.replace("first", "second").format("Second", "draft: true\n", ".")
    )
    look()

    page = client.get("/lessons/second")

    assert page.status_code == (200 if author else 404)
    assert ("A draft" in page.text) == author


def test_nothing_is_read_while_nothing_changes(served, monkeypatch):
    _, look, _ = served
    monkeypatch.setattr("app.web.course_reload.reload_course", lambda *_: pytest.fail("It was read."))

    look()


def test_a_server_is_found_while_it_runs_and_not_afterwards(tmp_path):
    asked: list[int] = []

    async def found() -> int:
        heard = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, heard.set)
        with process_file(tmp_path):
            asked.append(ask_to_reload(tmp_path))
            await asyncio.wait_for(heard.wait(), SECONDS)
        return asked[0]

    assert asyncio.run(found()) == os.getpid()
    with pytest.raises(ProcessLookupError):
        ask_to_reload(tmp_path)


def test_without_a_server_nobody_is_asked(tmp_path):
    with pytest.raises(ProcessLookupError, match="No server is running"):
        ask_to_reload(tmp_path)


def test_a_picture_of_a_lesson_is_served_and_no_other_file(folder, tmp_path):
    (folder / "1-unit" / "cat.png").write_bytes(b"\x89PNG of a cat")
    (folder / "1-unit" / "dog.png").write_bytes(b"a dog")
    change(folder, "First", "![A cat](cat.png){width=320}")
    course = load_course(folder)
    app = create_app(Settings(data_dir=tmp_path, lessons=folder), course, FakeGrader())
    paths = ("1-unit/cat.png", "1-unit/dog.png", "1-unit/unit.md", "..%2f1-unit/cat.png", "1-unit/../1-unit/cat.png")

    with TestClient(app, base_url="http://localhost") as client:
        found = [client.get(f"/pictures/{path}") for path in paths]

    assert [one.status_code for one in found][:4] == [200, 404, 404, 404]
    assert (found[0].content, found[0].headers["content-type"]) == (b"\x89PNG of a cat", "image/png")
    assert "default-src 'none'" in found[0].headers["content-security-policy"]


BOX = """```{{forward}} double
:inputs: {{x: [3]}}
:output: y
y = x * {factor}
```

::::{{grad}} box
:forward: double
:require: dx

{words}

```{{solution}}
dx = dy * {factor}
```
::::

:::{{number}} half
:answer: {answer}

How much?
:::
"""


def test_a_lesson_that_a_class_was_given_and_lost_is_told(folder, tmp_path):
    (folder / "1-unit" / "01-first.md").write_text(TOP.format("First", "", ":::{number} half\n:answer: 1\n\nHow?\n:::"))
    course = load_course(folder)
    app = create_app(Settings(data_dir=tmp_path), course, FakeGrader())
    with TestClient(app, base_url="http://localhost") as client:
        reloading = CourseReload(app, folder, course)

        async def give() -> None:
            async with app.state.site.database.write() as db:
                group = await classes.create_class(db, "Algebra", "UTC", None)
                db.add(Assignment(class_id=group.id, lesson="first", late_share=0.5, points=1))

        def lost() -> list[str]:
            with capture_logs() as lines:
                client.portal.call(reloading.reload)
            return [one["lesson"] for one in lines if one["event"] == "assigned-lesson-gone"]

        client.portal.call(give)
        before = lost()
        text = (folder / "1-unit" / "01-first.md").read_text()
        (folder / "1-unit" / "01-first.md").write_text(text.replace("id: first", "id: other"))
        after = lost()

    assert (before, after) == ([], ["first"])
    renamed = lost_lessons(Settings(data_dir=tmp_path, lessons=folder), load_course(folder))
    assert [str(one)[:52] for one in renamed] == ["The lesson 'first' is assigned in class 1 (Algebra),"]
    assert lost_lessons(Settings(data_dir=tmp_path / "none"), load_course(folder)) == []
    assert not (tmp_path / "none").exists()


def test_a_reload_is_noted_once_the_course_is_another_one(folder, tmp_path):
    course = load_course(folder)
    app = create_app(Settings(data_dir=tmp_path), course, FakeGrader())
    with TestClient(app, base_url="http://localhost") as client:
        reloading = CourseReload(app, folder, course)
        before = last_reload(tmp_path)
        unanswered = await_reload(tmp_path, before, 0)
        client.portal.call(reloading.reload)
        answered = await_reload(tmp_path, before, 0)
        again = await_reload(tmp_path, last_reload(tmp_path), 0)

    assert (unanswered, answered, again) == (False, True, False)


CHANGED = "changed since you solved it"


def test_an_exercise_changed_since_solved_says_so_until_solved_again(folder, tmp_path):
    change(folder, "First", BOX.format(factor=2, answer=1, words="Write it."))
    course, grader = load_course(folder), FakeGrader()
    app = create_app(Settings(data_dir=tmp_path), course, grader)
    with TestClient(app, base_url="http://localhost", headers={"origin": "http://localhost"}) as client:
        reloading = CourseReload(app, folder, course)

        def solve(factor: int, answer: int) -> None:
            client.post("/lessons/first/code/box/check", data={"code": f"dx = dy * {factor}\n", "revision": "0"})
            client.post("/lessons/first/quiz/half", data={"answer": str(answer)})

        def told(**values: object) -> tuple[int, bool]:
            change(folder, "First", BOX.format(**values))
            client.portal.call(reloading.reload)
            page = client.get("/lessons/first").text
            return page.count(CHANGED), 'data-mark="right"' in page

        solve(2, 1)
        polished = told(factor=2, answer=1, words="Write the gradient.")
        changed = told(factor=3, answer=4, words="Write it.")
        solve(3, 4)
        again = client.get("/lessons/first").text

    assert polished == (0, True)
    assert changed == (2, False)
    assert CHANGED not in again
    assert again.count(" · solved") == 2
