"""One sentence for all who wrote it: tried first, shown at once to everybody who makes the mistake, and withdrawn."""

import asyncio
import json

import pytest
from sqlalchemy import select

from app.grading.judge.verdict import NameVerdict, Verdict
from app.store.progress import NewAttempt, record_attempt
from app.store.tables import AuditEvent
from app.web.routes.written import written_anew
from tests.waiting import SECONDS
from tests.web.conftest import RIGHT, FakeGrader

CHECK = "/lessons/linear/code/linear-backward/check"
KEY, OTHER = "dX:unrecognised:3a3a", "dX:unrecognised:7b7b"
STRANGE = "mine = dY.cos()  # by {name}\ndX = mine @ W.T\n"
SAID = "Of `cos` nothing comes back here: look at the line itself."
PLACE = {"lesson": "linear", "exercise": "linear-backward", "mistake": KEY}


@pytest.fixture(autouse=True)
def by_value(monkeypatch):
    """A text with a cosine comes to numbers that nothing names, one with a sine to others."""
    plain = FakeGrader.check

    async def check(grader, task, code):
        value = "3a3a" if "cos" in code else "7b7b" if "sin" in code else ""
        if not value:
            return await plain(grader, task, code)
        grader.checked.append(code)
        said = "`dX` has the right shape, but its numbers differ."
        wrong = NameVerdict(
            name="dX", verdict="wrong", code="dX:unrecognised", key=f"dX:unrecognised:{value}", message=said, line=2
        )
        return Verdict(outcome="graded", names=(wrong,), hidden_sizes=2)

    monkeypatch.setattr(FakeGrader, "check", check)


@pytest.fixture
def three(room, group):
    """Learners of the class with the mistake; the lesson is assigned."""
    room.assign(group, "linear-layer")
    return enrol(room, group, "Bob", "Cleo", "Dan")


def enrol(room, group, *names):
    browsers = [room.browser(name) for name in names]
    for browser, name in zip(browsers, names, strict=True):
        room.join(group, name)
        check(browser, STRANGE.format(name=name))
    return browsers


def check(browser, code, revision=0):
    answer = browser.post(CHECK, data={"code": code, "revision": revision})
    assert answer.status_code == 200
    return answer.text


def write(browser, group=None, **changes):
    scope = f"?class={group.id}" if group else ""
    example = "h1 = dY.cos()\ndX = h1 @ W.T"
    return browser.post(f"/authors/sentences{scope}", data={**PLACE, "said": SAID, "example": example, **changes})


def test_everybody_with_the_mistake_sees_it_now_and_later_and_nobody_else(room, group, ada, three):
    (other,) = enrol(room, group, "Eve")
    check(other, "dX = dY.sin()", revision=1)

    assert write(ada, group).status_code == 200

    pages = [browser.get("/lessons/linear").text for browser in three]
    assert all("nothing comes back here" in page for page in pages)
    assert "nothing comes back here" not in other.get("/lessons/linear").text
    assert "nothing comes back here" in check(other, "dX = dY.cos() * 1", revision=2)
    assert "numbers differ" in pages[0]


@pytest.mark.usefixtures("three")
def test_open_pages_are_told_without_being_asked_again(app, room, group, ada):
    """The stream of a page says nothing at first, then what was written; the test waits for it and for no time."""
    site = app.state.site
    lesson = site.course.at["linear"]
    stream = written_anew(site, room.ids["Bob"], lesson)

    async def next_html():
        async with asyncio.timeout(SECONDS):
            return await anext(stream)

    portal = app.state.portal
    before = portal.call(next_html)
    waiting = portal.start_task_soon(next_html)
    write(ada, group)
    after = waiting.result(SECONDS)

    assert "nothing comes back here" not in before
    assert "nothing comes back here" in after
    assert 'id="linear-backward-dX-written"' in after


def test_a_page_listens_only_where_a_mistake_has_no_name(room, three):
    (bob, *_), other = three, room.browser("Eve")
    check(other, "dX = W @ dY")

    assert 'data-events="/lessons/linear/sentences/events"' in bob.get("/lessons/linear").text
    assert "written-sentences" not in other.get("/lessons/linear").text


def test_a_stream_ends_where_there_is_nothing_to_wait_for(room):
    browser = room.browser("Eve")
    check(browser, "dX = W @ dY")

    events = browser.get("/lessons/linear/sentences/events").text

    assert [line for line in events.splitlines() if line.startswith("event:")] == ["event: end"]


def test_a_class_has_its_own_and_the_course_has_one_for_everybody(room, group, ada, three):
    stranger = room.browser("Eve")
    check(stranger, STRANGE)
    write(ada, said="For everybody.")
    assert "For everybody." in three[0].get("/lessons/linear").text

    write(ada, group, said="For this class.")

    assert "For this class." in three[0].get("/lessons/linear").text
    assert "For everybody." in stranger.get("/lessons/linear").text


def test_its_example_is_tried_and_has_to_come_to_the_same_numbers(group, ada, three, grader):
    refused = write(ada, group, example="dX = dY.sin() + 5")

    assert refused.status_code == 422
    assert "The example does not make this mistake." in refused.text
    assert "dX = dY.sin() + 5" in grader.checked
    assert "nothing comes back here" not in three[0].get("/lessons/linear").text


@pytest.mark.usefixtures("three")
def test_no_right_answer_may_meet_it(group, ada, monkeypatch):
    """A grader that finds the mistake in the solution, too, is believed; the sentence is not shown."""
    found = NameVerdict(name="dX", verdict="wrong", code="dX:unrecognised", key=KEY)
    asked = []

    async def check(_, _task, code):
        asked.append(code)
        return Verdict(outcome="graded", names=(found,), hidden_sizes=2)

    monkeypatch.setattr(FakeGrader, "check", check)
    refused = write(ada, group)

    assert refused.status_code == 422
    assert "A text that is right makes this mistake as well" in refused.text
    assert [text.strip() for text in asked] == [RIGHT.strip()]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("changes", "said"),
    [({"said": " "}, "Write the sentence."), ({"said": "x" * 501}, "at most 500"), ({"example": ""}, "Write a text")],
)
def test_what_is_missing_is_told_and_what_was_written_stays(ada, group, changes, said):
    refused = write(ada, group, **changes)

    assert refused.status_code == 422
    assert said in refused.text
    assert "h1 = dY.cos()" in refused.text or "example" in changes


@pytest.mark.parametrize("mistake", ["dX:mean", "dQ:unrecognised:3a3a", "dX:unrecognised", "dX", ""])
def test_only_mistakes_that_nothing_names_can_have_one(ada, group, mistake):
    assert write(ada, group, mistake=mistake).status_code == 404


@pytest.mark.usefixtures("three")
def test_the_form_shows_a_text_of_the_group_and_nothing_of_its_author(ada, group):
    page = ada.get("/authors/sentences/new", params={**PLACE, "class": group.id}).text

    assert "h1 = dY.cos()\ndX = h1 @ W.T" in page
    assert "mine" not in page
    assert "Bob" not in page


def test_of_a_group_of_few_no_text_is_shown(room, group, ada):
    room.assign(group, "linear-layer")
    enrol(room, group, "Bob", "Cleo")

    page = ada.get("/authors/sentences/new", params={**PLACE, "class": group.id}).text

    assert "dY.cos()" not in page
    assert "Too few learners wrote it" in page


def test_it_is_kept_with_its_author_and_its_day_and_can_be_withdrawn(room, group, ada, three):
    page = write(ada, group)
    assert "Ada" in page.text

    ada.post(f"{page.url.path}/withdraw?class={group.id}")

    assert "nothing comes back here" not in three[0].get("/lessons/linear").text
    assert "It is no longer shown." in ada.get(f"{page.url.path}?class={group.id}").text
    events = room.write(lambda db: db.scalars(select(AuditEvent.verb).where(AuditEvent.class_id == group.id)))
    assert {"sentence-written", "sentence-withdrawn"} <= set(events)


@pytest.mark.usefixtures("three")
def test_one_page_gives_the_block_and_the_change_of_the_lesson(ada, group):
    page = write(ada, group).text

    assert "```{mistake} Of `cos` nothing comes back here: look at the line itself." in page
    assert "+++ b/" in page
    assert "+```{mistake} Of `cos`" in page


@pytest.mark.usefixtures("three")
def test_it_travels_with_an_export_and_to_the_class_of_the_next_term(group, ada):
    write(ada, group)

    told = json.loads(ada.get(f"/authors/sentences/export.json?class={group.id}").text)
    ada.post(f"/classes/{group.id}/next", data={"name": "Algebra II", "weeks": "26"})

    (row,) = told["sentences"]
    assert (row["said"], row["mistake"], row["withdrawn_at"]) == (SAID, KEY, None)
    assert SAID in ada.get(f"/authors/sentences?class={group.id + 1}").text


@pytest.mark.usefixtures("three")
def test_another_class_or_server_takes_it_in_where_its_example_holds(room, group, ada):
    write(ada, group)
    other = room.found("Geometry", "Ada")
    told = json.loads(ada.get(f"/authors/sentences/export.json?class={group.id}").text)
    told["sentences"][0]["mistake"] = "dX:unrecognised:of another server"

    ada.post(f"/authors/sentences/import?class={other.id}", data={"sentences": json.dumps(told)})

    (row,) = json.loads(ada.get(f"/authors/sentences/export.json?class={other.id}").text)["sentences"]
    assert (row["said"], row["mistake"]) == (SAID, KEY)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exercise": "nowhere"}, "The course has no exercise"),
        ({"example": "dX = W @ dY"}, "This is the transpose of"),
        ({"example": RIGHT}, "The example makes no mistake here that nothing names."),
    ],
)
@pytest.mark.usefixtures("three")
def test_what_does_not_hold_here_is_told_and_not_taken_in(room, ada, changes, said):
    other = room.found("Geometry", "Ada")
    copy = {"lesson": "linear-layer", "exercise": "linear-backward", "mistake": KEY, "said": SAID, "example": STRANGE}
    sent = {"sentences": json.dumps({"sentences": [{**copy, **changes}]})}

    answer = ada.post(f"/authors/sentences/import?class={other.id}", data=sent)

    assert (answer.status_code, "0 of 1 were taken in." in answer.text, said in answer.text) == (422, True, True)
    assert json.loads(ada.get(f"/authors/sentences/export.json?class={other.id}").text) == {"sentences": []}


@pytest.mark.parametrize("sent", ["", "[]", "{}", '{"sentences": 1}', "<b>"])
def test_what_is_no_export_is_refused_in_words(ada, group, sent):
    answer = ada.post(f"/authors/sentences/import?class={group.id}", data={"sentences": sent})

    assert (answer.status_code, "This is no list of sentences" in answer.text) == (422, True)


def test_who_may_write_and_who_may_only_read(room, group, ada, three):
    tom, max_ = room.browser("Tom"), room.browser("Max", teaches=True)
    room.join(group, "Tom", "assistant")
    path = write(ada, group).url.path
    paths = (f"/authors/sentences?class={group.id}", f"{path}?class={group.id}")

    assert [tom.get(path).status_code for path in paths] == [200, 200]
    assert write(tom, group).status_code == 404
    assert tom.post(f"{path}/withdraw?class={group.id}").status_code == 404
    assert tom.post(f"/authors/sentences/import?class={group.id}").status_code == 404
    for stranger in (three[0], max_):
        assert [stranger.get(path).status_code for path in paths] == [404, 404]
        assert write(stranger, group).status_code == 404
    assert write(three[0]).status_code == 404
    assert ada.get(path).status_code == 404


def answer(browser, given, **more):
    return browser.post(
        "/lessons/linear/quiz/half", data={"answer": given}, headers={"hx-request": "true"}, **more
    ).text


@pytest.fixture
def answered(room, group):
    """Somebody of the class whose answer to a question has no sentence of its own; the lesson is assigned."""
    room.assign(group, "linear-layer")
    browser = room.browser("Bob")
    room.join(group, "Bob")
    answer(browser, " 3 ")
    return browser


def test_all_who_give_one_wrong_answer_are_told_now_and_later(room, group, ada, answered):
    eve = room.browser("Eve")
    answer(eve, "3")
    assert write(ada, group, exercise="half", mistake='[0, "3"]', example="").status_code == 200

    assert "nothing comes back here" in answered.get("/lessons/linear").text
    assert "nothing comes back here" in answer(answered, "3")
    assert "nothing comes back here" not in answer(answered, "4")
    assert "nothing comes back here" not in eve.get("/lessons/linear").text


def test_an_open_page_is_told_of_its_answer(app, room, group, ada, answered):
    site = app.state.site
    stream = written_anew(site, room.ids["Bob"], site.course.at["linear"])

    async def next_html():
        async with asyncio.timeout(SECONDS):
            return await anext(stream)

    before = app.state.portal.call(next_html)
    write(ada, group, exercise="half", mistake='[0, "3"]', example="")

    assert "nothing comes back here" not in before
    assert 'id="half-answer-written"' in app.state.portal.call(next_html)
    assert 'id="half-answer-written"' in answered.get("/lessons/linear").text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0.5", "This answer is right"),
        ("2", "The lesson has a sentence for this answer already: That is the other way round."),
        ("x", "This is neither right nor wrong"),
    ],
)
def test_an_answer_that_is_right_or_named_has_no_sentence(group, ada, given, said):
    refused = write(ada, group, exercise="half", mistake=json.dumps([0, given]), example="")

    assert (refused.status_code, said in refused.text) == (422, True)


@pytest.mark.parametrize("mistake", ['[1, "3"]', '[0, " 3"]', "[0, 3]", "[]", "3", "{}"])
def test_what_is_no_key_of_an_answer_is_not_found(group, ada, mistake):
    assert write(ada, group, exercise="half", mistake=mistake, example="").status_code == 404


def test_options_have_the_sentences_of_their_author(group, ada):
    assert write(ada, group, exercise="pick", mistake='[0, "0"]', example="").status_code == 404


@pytest.mark.usefixtures("answered")
def test_an_answer_that_was_right_before_a_change_is_no_mistake(room, group, ada):
    right = NewAttempt(kind="quiz", text='["7"]', verdict="{}", correct=True)
    room.write(lambda db: record_attempt(db, room.ids["Bob"], "linear-layer", "half", right))

    refused = write(ada, group, exercise="half", mistake='[0, "7"]', example="")

    assert (refused.status_code, "A text that is right makes this mistake as well" in refused.text) == (422, True)


def test_the_page_gives_the_value_for_the_list_of_the_question(group, ada):
    page = write(ada, group, exercise="half", mistake='[0, "3"]', example="").text

    assert "- `3`: Of `cos` nothing comes back here" in page
    assert "+- `3`: Of `cos`" in page
