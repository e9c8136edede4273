"""Two sentences for a slip or a hint: drawn by learner, kept who saw which, told to learners, off unless begun."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from app.store.comparisons import arm_of
from app.store.tables import AuditEvent, Class, Comparison, ComparisonDraw
from tests.web.conftest import RIGHT, WRONG

BOX = "/lessons/linear/code/linear-backward"
SLIP = {"lesson": "linear", "exercise": "linear-backward", "about": "dX:transposed"}
HINT = {**SLIP, "about": "hint-1"}
TEXTS = {"first": "Look at the *order*: `first`.", "second": "Look at the shapes: `second`."}
SHOWN = ("<code>first</code>", "<code>second</code>")
TOLD = "which of two wordings"


@pytest.fixture
def group(room, group):
    room.assign(group, "linear-layer")
    return group


def begin(ada, group, **changes):
    return ada.post(f"/classes/{group.id}/comparisons", data={**SLIP, **TEXTS, **changes})


def enrol(room, group, count, name="Learner"):
    browsers = {}
    for number in range(count):
        browsers[called] = room.browser(called := f"{name} {number}")
        room.join(group, called)
    return browsers


def check(browser, code=WRONG, revision=0):
    assert browser.post(f"{BOX}/check", data={"code": code, "revision": revision}).status_code == 200


def newest(room):
    return room.write(lambda db: db.scalar(select(Comparison.id).order_by(Comparison.id.desc()).limit(1)))


def drawn(room, number):
    rows = room.write(lambda db: db.scalars(select(ComparisonDraw).where(ComparisonDraw.comparison_id == number)))
    return {row.learner_id: row.arm for row in rows}


def test_each_learner_keeps_seeing_the_wording_drawn_for_them(room, group, ada):
    begin(ada, group)
    number, seen = newest(room), set()
    for name, browser in enrol(room, group, 8).items():
        check(browser)
        arm = arm_of(number, room.ids[name])
        pages = [browser.get("/lessons/linear").text for _ in range(2)]
        assert all(SHOWN[arm] in page and SHOWN[1 - arm] not in page for page in pages)
        assert all("This is the transpose" in page for page in pages)
        seen.add(arm)

    assert seen == {0, 1}
    kept = drawn(room, number)
    assert kept == {learner: arm_of(number, learner) for learner in kept}
    assert len(kept) == 8


def test_a_hint_has_the_wording_that_was_drawn_in_its_place(room, group, ada):
    begin(ada, group, **HINT)
    ((name, browser),) = enrol(room, group, 1).items()
    number = newest(room)
    arm = arm_of(number, room.ids[name])

    browser.post(f"{BOX}/hint", data={"code": "", "revision": 0})

    page = browser.get("/lessons/linear").text
    assert SHOWN[arm] in page
    assert SHOWN[1 - arm] not in page
    assert "First hint. Look for a minus." not in page
    assert drawn(room, number) == {room.ids[name]: arm}


def test_others_see_neither_and_are_not_counted(room, group, ada):
    begin(ada, group)
    stranger = room.browser("Eve")
    check(stranger)
    ada.post(f"{BOX}/check", data={"code": WRONG, "revision": 0})

    pages = stranger.get("/lessons/linear").text + ada.get("/lessons/linear").text
    assert not any(said in pages for said in SHOWN)
    assert drawn(room, newest(room)) == {}


def test_the_next_try_counts_and_nothing_is_told_of_few(room, group, ada):
    begin(ada, group)
    number, learners = newest(room), enrol(room, group, 14)
    for browser in learners.values():
        check(browser)
    assert "Nothing is told before 3 learners" in ada.get(f"/classes/{group.id}/comparisons").text

    arms = {name: arm_of(number, room.ids[name]) for name in learners}
    for name, browser in learners.items():
        check(browser, RIGHT if arms[name] else f"{WRONG}# again", revision=1)
        check(browser, f"{WRONG}# and again" if arms[name] else RIGHT, revision=2)

    page = ada.get(f"/classes/{group.id}/comparisons").text
    first, second = (list(arms.values()).count(arm) for arm in (0, 1))
    assert f"0 of {first}, 0 %" in page
    assert f"{second} of {second}, 100 %" in page
    assert "percentage points" in page
    assert "Learner" not in page


def test_learners_are_told_while_it_goes_on_and_no_longer(room, group, ada, bob):
    home = f"/classes/{group.id}"
    assert TOLD not in bob.get(home).text

    begin(ada, group)
    assert TOLD in bob.get(home).text
    ada.post(f"{home}/comparisons/{newest(room)}/end")

    assert TOLD not in bob.get(home).text
    check(bob)
    assert not any(said in bob.get("/lessons/linear").text for said in SHOWN)
    verbs = set(room.write(lambda db: db.scalars(select(AuditEvent.verb).where(AuditEvent.class_id == group.id))))
    assert {"comparison-begun", "comparison-ended"} <= verbs


def test_a_comparison_began_and_ended_on_days_of_the_class(room, group, ada):
    begin(ada, group)

    async def move(db):
        (await db.get_one(Class, group.id)).timezone = "Pacific/Kiritimati"
        comparison = await db.get_one(Comparison, number)
        comparison.began_at = comparison.ended_at = datetime(2026, 3, 1, 12, tzinfo=UTC)

    number = newest(room)
    room.write(move)

    page = ada.get(f"/classes/{group.id}/comparisons").text
    assert (page.count("02 Mar 2026"), page.count("01 Mar 2026")) == (2, 0)


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"second": " "}, 409, "Write both sentences."),
        ({"second": TEXTS["first"]}, 409, "The two sentences are the same"),
        ({"second": "x" * 501}, 409, "at most 500 characters"),
        ({"about": "hint-9"}, 422, "about a mistake in a code box"),
        ({"about": "dQ:mean"}, 422, "about a mistake in a code box"),
        ({"exercise": "nowhere"}, 422, "not assigned to the class"),
    ],
)
def test_what_cannot_be_compared_is_told(group, ada, changes, status, said):
    answer = begin(ada, group, **changes)

    assert (answer.status_code, said in answer.text) == (status, True)


def test_one_comparison_at_a_time_is_about_one_thing(group, ada):
    assert begin(ada, group).status_code == 200

    assert "Two wordings are compared there already." in begin(ada, group).text
    assert begin(ada, group, **HINT).status_code == 200


def test_what_is_written_in_a_sentence_is_never_markup(room, group, ada):
    begin(ada, group, first="<b>bold</b> `<i>`", second="<b>other</b> `<i>`")
    ((_, browser),) = enrol(room, group, 1).items()
    check(browser)

    assert "<b>bold" not in browser.get("/lessons/linear").text + ada.get(f"/classes/{group.id}/comparisons").text
