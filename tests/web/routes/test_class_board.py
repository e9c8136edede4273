"""The board tells what a class is stuck on: nobody else's work, no line of few, no name on the wall."""

import asyncio
import json
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from app.settings import Settings
from app.store import board
from app.store.classes import find_class_member
from app.store.event_bus import Subscription
from app.store.tables import Assignment
from app.web.application import create_app
from app.web.class_access import ClassPage
from app.web.routes.class_board import BoardQuery, _moments
from app.web.views.board_view import AssignedExercise
from tests.waiting import SECONDS
from tests.web.asking import Ask, asking, headers_of
from tests.web.classroom import Classroom
from tests.web.conftest import RIGHT

AT = "linear/linear-backward"
CHECK = "/lessons/linear/code/linear-backward/check"
WRONG = "dX = dY @ W  # by {name}\n"


@pytest.fixture
def group(room, group):
    assign(room, group, "linear-layer")
    return group


def assign(room, group, lesson, exercises=None):
    async def add(db):
        some = None if exercises is None else json.dumps(exercises)
        db.add(Assignment(class_id=group.id, lesson=lesson, exercises_json=some, late_share=0.5, points=10))

    room.write(add)


def enrol(room, group, *names):
    """Their browsers."""
    browsers = [room.browser(name) for name in names]
    for name in names:
        room.join(group, name)
    return browsers


def wrong(browser, code=WRONG):
    assert browser.post(CHECK, data={"code": code, "revision": 0}).status_code == 200


def shown(ada, group, at=AT, **query):
    answer = ada.get(f"/classes/{group.id}/board", params={"place": at, **query})
    assert answer.status_code == 200
    return answer.text


def test_learners_are_counted_by_the_mistake_of_their_newest_attempt(room, group, ada):
    bob, cleo, dan, eve, _ = enrol(room, group, "Bob", "Cleo", "Dan", "Eve", "Finn")
    for one in (bob, cleo, dan):
        wrong(one)
    wrong(eve)
    eve.post(CHECK, data={"code": RIGHT, "revision": 1})

    page = shown(ada, group)

    assert "5 learners: 1 solved it, 3 are wrong now, 1 did not try it." in page
    assert "This is the transpose of <code>dX</code>." in page
    assert page.count('<p class="bar-head">') == 1


@pytest.mark.parametrize(("names", "told"), [(("Bob", "Cleo", "Dan"), True), (("Bob", "Cleo"), False)])
def test_a_shared_line_is_shown_once_and_without_its_comment(room, group, ada, names, told):
    spaces = ("dX = dY @ W", "dX = dY @ W", "dX=dY@W")
    for one, text, name in zip(enrol(room, group, *names), spaces, names, strict=False):
        wrong(one, f"{text}  # by {name}\n")

    page = shown(ada, group)

    assert page.count('<pre class="bar-line">') == told
    assert "# by" not in page


def test_a_projection_names_nobody_and_tells_nothing_that_few_share(room, group, ada):
    names = ("Bob Brown", "Cleo Clay", "Dan Dare", "Eve Early")
    *three, eve = enrol(room, group, *names)
    for one in three:
        wrong(one)
    wrong(eve, "error")

    page = shown(ada, group, project="1")

    assert not any(name in page for name in names)
    assert "This is the transpose of <code>dX</code>." in page
    assert "Stopped by an error" in shown(ada, group)
    assert "Stopped by an error" not in page
    assert "fewer than 3 solved it" not in page  # nobody did
    assert "0 solved it, 4 wrong now" in page


def test_a_projection_lights_the_line_that_most_are_stuck_at(room, group, ada):
    for one in enrol(room, group, "Bob", "Cleo", "Dan"):
        wrong(one)

    page = shown(ada, group, project="1", graph="1")

    assert "the line that makes <code>Y</code>" in page
    assert 'class="line-lit"' in page
    assert 'class="line-lit"' not in shown(ada, group, project="1")


def test_answers_to_a_question_are_counted_as_they_were_given(room, group, ada):
    answers = ("3,2", "3, 2", "4")
    for one, answer in zip(enrol(room, group, "Bob", "Cleo", "Dan"), answers, strict=True):
        one.post("/lessons/linear/quiz/half", data={"answer": answer})
    for one in (room.browser("Gus"),):
        one.post("/lessons/linear/quiz/half", data={"answer": "77"})

    page = shown(ada, group, at="linear/half")

    assert "<code>4</code>" in page
    assert page.count('<p class="bar-head">') == 2
    assert "77" not in page


def test_an_option_that_was_chosen_is_shown_in_its_words(room, group, ada):
    [bob] = enrol(room, group, "Bob")
    bob.post("/lessons/linear/quiz/pick", data={"answer": "0"})

    assert "a mean" in shown(ada, group, at="linear/pick")


def test_after_an_explanation_the_board_tells_who_has_left_the_mistake(room, group, ada):
    bob, cleo, dan = enrol(room, group, "Bob", "Cleo", "Dan")
    for one in (bob, cleo, dan):
        wrong(one)

    page = ada.post(f"/classes/{group.id}/board/explained", data={"place": AT}).text
    assert "<td>3</td><td>0</td><td>0</td>" in page
    bob.post(CHECK, data={"code": RIGHT, "revision": 1})
    wrong(cleo, "error")

    page = shown(ada, group)

    assert "<td>3</td><td>2</td><td>1</td>" in page


def test_whoever_makes_the_same_mistake_three_times_is_waiting(room, group, ada):
    bob, cleo = enrol(room, group, "Bob", "Cleo")
    for text in ("a = 1", "a = 2", "a = 3"):
        wrong(bob, text)
        cleo.post("/lessons/linear/quiz/half", data={"answer": f"1{text[-1]}"})
    wrong(cleo)

    waiting = shown(ada, group).partition('id="waiting"')[2].partition("</section>")[0]

    assert "Bob" in waiting
    assert "3 times" in waiting
    assert "Cleo" not in waiting
    assert "3 wrong answers, the last: <code>13</code>" in shown(ada, group, at="linear/half")


def test_who_leaves_is_gone_from_the_board_at_once(room, group, ada):
    bob, cleo = enrol(room, group, "Bob", "Cleo")
    wrong(bob)
    wrong(cleo)

    bob.post(f"/classes/{group.id}/leave", data={"sure": "yes"})

    page = shown(ada, group)
    assert "Bob" not in page
    assert "1 learner: 0 solved it, 1 is wrong now, 0 did not try it." in page


def test_without_a_name_the_board_opens_where_somebody_was_last_wrong(room, group, ada):
    assert '<option value="linear/dw-shape" selected>' in shown(ada, group, at="")

    [bob] = enrol(room, group, "Bob")
    wrong(bob)

    assert f'<option value="{AT}" selected>' in shown(ada, group, at="")


def test_only_what_is_assigned_has_a_board(room, ada):
    group = room.found("Algebra", "Ada")
    assert "No lesson is assigned yet." in shown(ada, group, at="")
    assign(room, group, "linear-layer", ["half"])

    found = {
        at: ada.get(f"/classes/{group.id}/board", params={"place": at}).status_code
        for at in ("linear/half", AT, "reading/half", "nowhere/x", "x" * 300)
    }

    assert found == {"linear/half": 200, AT: 404, "reading/half": 404, "nowhere/x": 404, "x" * 300: 404}
    assert ada.post(f"/classes/{group.id}/board/explained", data={"place": AT}).status_code == 404
    assert ada.get(f"/classes/{group.id}/board/events", params={"place": AT}).status_code == 404


@pytest.mark.parametrize("page", ["board", "board/events?place=linear/half", "slips"])
def test_a_learner_sees_no_board(room, group, page):
    [bob] = enrol(room, group, "Bob")

    assert bob.get(f"/classes/{group.id}/{page}").status_code == 404


def test_the_least_that_share_a_line_is_a_setting():
    assert Settings(shared_by=5).shared_by == 5
    with pytest.raises(ValueError, match="shared_by"):
        Settings(shared_by=1)


def test_slips_are_counted_by_the_operation_that_they_are_made_at(room, group, ada):
    for one in enrol(room, group, "Bob", "Cleo"):
        wrong(one)

    page = ada.get(f"/classes/{group.id}/slips").text

    assert '<th scope="col">matrix products</th>' in page
    assert "the transpose of the right answer" in page
    assert "2 <span" in page


def test_a_board_is_sent_on_each_change_and_ends_with_the_right_to_see_it(settings, course, grader, monkeypatch):
    monkeypatch.setattr("app.web.routes.class_board.AT_MOST_EVERY", 0.0)
    monkeypatch.setattr(Subscription.wait, "__defaults__", (2 * SECONDS,))  # nobody looks of their own accord
    app = create_app(settings, course, grader)
    with asking(app) as asker:
        room = Classroom(app, asker.run)
        room.browser("Ada", teaches=True)
        group = room.found("Algebra", "Ada")
        assign(room, group, "linear-layer")
        site = app.state.site
        lesson = course.lessons[0]
        here = AssignedExercise(lesson, lesson.named["linear-backward"], 0)

        async def watch():
            async with site.database.read() as db:
                member = await find_class_member(db, group.id, room.ids["Ada"])
            page = ClassPage(Request({"type": "http", "app": app}), site, member)
            asked = BoardQuery(place=AT, project=False, graph=False)
            moments = _moments(page, here, asked)
            first = await anext(moments)
            coming = asyncio.ensure_future(anext(moments))
            await asyncio.sleep(0)
            async with site.database.write() as db:
                await board.record_explanation(db, group.id, room.ids["Ada"], "linear-layer", "linear-backward")
                await site.bus.publish(db, board.exercise_topic("linear-layer", "linear-backward"))
            return first, await coming, moments

        first, second, moments = asker.run(watch())
        assert "Press the button" in first
        assert "Marked" in second

        assert asker.run(ends_with_the_server(app, site, group, room, here)) == []

        async def end():
            async with site.database.write() as db:
                (await find_class_member(db, group.id, room.ids["Ada"])).person.role = "learner"
                await site.bus.publish(db, board.exercise_topic("linear-layer", "linear-backward"))
            return [html async for html in moments]

        assert asker.run(end()) == []


async def ends_with_the_server(app, site, group, room, here):
    """What comes after the first board once the server is about to stop."""
    async with site.database.read() as db:
        within = await find_class_member(db, group.id, room.ids["Ada"])
    asked = BoardQuery(place=AT, project=False, graph=False)
    moments = _moments(ClassPage(Request({"type": "http", "app": app}), site, within), here, asked)
    await anext(moments)

    async def rest():
        return [html async for html in moments]

    coming = asyncio.ensure_future(rest())
    await asyncio.sleep(0)
    site.runs.end_streams()
    try:
        return await asyncio.wait_for(coming, SECONDS)
    finally:
        site.runs._closing = False


@pytest.mark.parametrize(
    ("path", "fields", "exercise"),
    [
        (CHECK, {"code": "a = 1", "revision": "0"}, "linear-backward"),
        ("/lessons/linear/quiz/half", {"answer": "7"}, "half"),
    ],
)
def test_a_board_hears_at_once_of_answers_of_its_class_alone(settings, course, grader, path, fields, exercise):
    app = create_app(settings, course, grader)
    with asking(app) as asker:
        room = Classroom(app, asker.run)
        room.browser("Ada", teaches=True)
        group = room.found("Algebra", "Ada")
        bob = room.browser("Bob").cookies["session"]
        room.join(group, "Bob")
        eve = room.browser("Eve").cookies["session"]

        def heard(session):
            with app.state.site.bus.subscribe(board.exercise_topic("linear-layer", exercise)) as ear:
                pairs = {"cookie": f"session={session}", "sec-fetch-site": "same-origin"}
                pairs["content-type"] = "application/x-www-form-urlencoded"
                asker(Ask("POST", path, headers_of(pairs.items()), urlencode(fields).encode()))
                asker.run(ear.wait(0.01))
                return ear.heard

        assert heard(bob)
        assert not heard(eve)
