from dataclasses import replace

import pytest

from app.practice.scheduler import AGAIN, GOOD, HARD
from app.practice.session_plans import SessionPlan, SessionState, drill_of
from app.store.database import now
from app.store.tables import ServedItem
from app.web.views.practice_view import _button, _end_text, _open, _slips_gone, session_position

BEGUN = SessionState(SessionPlan(), now(), (ServedItem(),), over=False)


@pytest.mark.parametrize(
    ("standing", "due", "word"),
    [
        (BEGUN, False, "Go on"),
        (replace(BEGUN, over=True), False, "Another session"),
        (replace(BEGUN, given=()), True, "Begin"),
        (replace(BEGUN, plan=drill_of("matmul")), False, "Practise"),
        (None, True, "Begin"),
        (None, False, "Practise"),
    ],
)
def test_a_sitting_goes_on_where_it_began(standing: SessionState | None, due: bool, word: str) -> None:
    assert _button(standing, due) == word


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (SessionPlan(items=5, lesson="linear"), "Five more like these: 0 of 5 done"),
        (SessionPlan(items=3, purpose="ready/tensors"), "Ready?: 0 of 3 done"),
        (SessionPlan(items=1, form="bug"), "Bug of the day: one exercise is open"),
        (SessionPlan(items=4, families=("matmul",)), "0 of 4 done"),
        (SessionPlan(), ""),
    ],
)
def test_what_was_begun_is_called_by_its_name(plan: SessionPlan, words: str) -> None:
    assert _open(replace(BEGUN, plan=plan)) == words


def served(number: int, **how: object) -> ServedItem:
    return ServedItem(**{"item_id": number, "given_at": now(), "done_at": now(), "hints": 0} | how)


def test_an_end_tells_how_each_exercise_was_come_by_and_why_it_is_the_end() -> None:
    given = (
        served(1, right_at_once=True),
        served(2, right_at_once=False),
        served(3, right_at_once=False, hints=2),
        served(4, right_at_once=False, hints=3),
        served(5, right_at_once=True),
        served(6, done_at=None, left_at=now()),
    )
    ways = "2 right at once, 1 after another try, 1 with a hint, 1 looked up"
    over = replace(BEGUN, given=given, over=True)

    assert _end_text(over, 1, {4}, rated=True) == (
        f"Ten minutes are over: 5 exercises done: {ways}. 1 was left. 1 slip gone. "
        "What you solved rests now and comes back later."
    )
    all_done = replace(over, given=given[:5], plan=SessionPlan(items=5))
    assert _end_text(all_done, 0, {4}, rated=True).startswith(f"5 exercises done: {ways}. What")
    assert _end_text(replace(over, plan=SessionPlan(minutes=2.5)), 0, {4}, rated=True).startswith(
        "2.5 minutes are over: "
    )
    assert [state.has_outcome for state in (BEGUN, over, replace(over, plan=SessionPlan(drill=True)))] == [
        False,
        True,
        False,
    ]


def test_an_end_promises_nothing_where_no_card_was_rated_and_counts_what_was_left_apart() -> None:
    form = SessionPlan(items=2, purpose="before")
    given = (served(1, right_at_once=True), served(2, done_at=None, left_at=now()))
    over = SessionState(form, now(), given, over=True)

    assert _end_text(over, 0, (), rated=False) == "1 exercise done: 1 right at once. 1 was left."
    none_done = replace(over, given=(given[1],), plan=replace(form, items=1))
    assert _end_text(none_done, 0, (), rated=False) == "0 exercises done. 1 was left."


@pytest.mark.parametrize(
    ("ratings", "gone"),
    [([GOOD], True), ([GOOD, GOOD], True), ([HARD], False), ([GOOD, AGAIN], False), ([], False)],
)
def test_a_slip_is_gone_where_it_was_recalled_without_another(ratings: list[int], gone: bool) -> None:
    norm = ("norm", "factor")
    over = replace(BEGUN, given=(served(1, family="norm", slip="factor"),), over=True)

    assert _slips_gone(over, {norm: ratings} if ratings else {}) == ([norm] if gone else [])


def test_a_solved_exercise_keeps_its_place_in_the_session() -> None:
    given = (served(1), served(2, done_at=None, left_at=now()), served(3), served(4, done_at=None))
    on = replace(BEGUN, given=given)

    assert [session_position(on, item, now()) for item in (1, 3, 4, 5)] == ["1 of 6", "2 of 6", "3 of 6", ""]
