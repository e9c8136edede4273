"""The names as a reader looks into them, on a page of their own and in a lesson."""

import asyncio
from asyncio import _get_running_loop

import pytest
from markupsafe import Markup
from starlette.testclient import TestClient

from app.content.blocks import Course, Unit
from app.course.parse import parse_lesson
from app.engine.train.corpus_file import load_names
from app.web.application import create_app
from app.web.views import names_view as web_names
from app.web.views.names_view import names_view

HTMX = {"hx-request": "true"}


def test_the_page_counts_what_there_is(client):
    page = client.get("/names").text

    assert "5,163 names (first names of the US census of 1990), the longest of 11 letters" in page
    assert '<th scope="row">training</th><td>4,130</td><td>28,892</td>' in page
    assert "<code>.</code> 0</li>" in page
    assert "<code>z</code> 26</li>" in page


def test_any_name_shows_its_examples(client):
    answer = client.get("/names", params={"name": " Emma "}, headers=HTMX)

    assert answer.text.lstrip().startswith('<div class="name-look"')
    assert "<caption>5 examples</caption>" in answer.text
    rows = [("...", "e", "0 0 0", 5), ("..e", "m", "0 0 5", 13), ("mma", ".", "13 13 1", 0)]
    for context, target, numbers, index in rows:
        cells = f"<td><code>{' '.join(context)}</code></td><td><code>{target}</code></td>"
        assert f"{cells}<td>{numbers}</td><td>{index}</td>" in answer.text


@pytest.mark.parametrize(("name", "said"), [("zzyx", "Not in the list"), ("emma", "In the list: 1 time in the ")])
def test_a_name_is_looked_for_in_the_list(client, name, said):
    assert said in client.get("/names", params={"name": name}).text


@pytest.mark.parametrize("name", ["", "   ", "josé", "a1", "mary ann", "<b>", "a" * 41, "\0", "ﬁ"])
def test_what_is_no_name_is_told(client, name):
    answer = client.get("/names", params={"name": name})

    assert answer.status_code == 200
    assert "A name has 1 to 40 letters from a to z." in answer.text
    assert "<b>" not in answer.text


def test_a_list_that_cannot_be_read_is_told_and_nothing_breaks(settings, course, grader, tmp_path):
    broken = settings.model_copy(update={"names": tmp_path / "nothing.txt"})
    with TestClient(create_app(broken, course, grader)) as client:
        answer = client.get("/names")

    assert answer.status_code == 200
    assert "nothing.txt cannot be read" in answer.text


LESSON = "---\ntitle: A\nid: a\nestimate: 5 min\n---\n\n:::{visual} data\n:kind: names\n\nLook.\n:::\n"


def served(text):
    lesson, errors = parse_lesson(text, "1-u/01-a.md")
    assert errors == ()
    return Course(units=(Unit(slug="u", number=1, title="U", summary=Markup(), lessons=(lesson,)),))


@pytest.mark.parametrize("address", ["/names", "/lessons/a"])
def test_names_are_read_outside_of_the_event_loop(settings, grader, tmp_path, monkeypatch, address):
    names, loops = tmp_path / "names.txt", []
    monkeypatch.setattr(web_names, "load_names", lambda path: loops.append(_get_running_loop()) or load_names(path))
    app = create_app(settings.model_copy(update={"names": names}), served(LESSON), grader)
    with TestClient(app) as client:
        names.write_text("\n".join(["ada", "eve"] * 100))
        assert "200 names" in client.get(address).text

    assert loops == [None]


def test_a_list_that_cannot_be_read_is_tried_once(settings, course, grader, tmp_path, monkeypatch):
    names, tried = tmp_path / "nothing.txt", []
    monkeypatch.setattr(web_names, "load_names", lambda path: tried.append(path) or load_names(path))
    with TestClient(create_app(settings.model_copy(update={"names": names}), course, grader)) as client:
        for _ in range(3):
            assert "nothing.txt cannot be read" in client.get("/names").text

    assert tried == [names]


def test_a_name_that_stands_in_several_parts_is_told_so(tmp_path):
    (tmp_path / "names.txt").write_text("emma\nolivia\n" + "alexander\nava\n" * 49, "utf-8")

    view = asyncio.run(names_view(tmp_path / "names.txt", "alexander"))

    assert (
        view.found
        == "In the list: 41 times in the training part, 4 times in the validation part, 4 times in the test part."
    )
    assert view.listed.names[:4] == ("emma", "olivia", "alexander", "ava")


def test_a_lesson_may_hold_the_names():
    assert served(LESSON).lessons[0].blocks[0].kind == "names"
