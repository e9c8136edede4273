"""Cards and sittings, on moments that are handed in."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.practice import scheduler
from app.practice.scheduler import AGAIN, GOOD, HARD, SIBLINGS, CardState, ReviewOutcome

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SLIPS = sorted({one for group in SIBLINGS for one in group} | {"", "sign"})
ABOUT = ("broadcast", "mean")

memories = st.builds(
    lambda family, slip, days: CardState(family=family, slip=slip, state="", due_at=NOON - timedelta(days=days)),
    st.sampled_from(["matmul", "broadcast"]),
    st.sampled_from(SLIPS),
    st.integers(0, 40),
)


@given(st.lists(memories, max_size=12, unique_by=lambda one: one.about))
def test_no_due_card_is_lost_or_met_twice(due):
    assert sorted(scheduler.in_order(due), key=str) == sorted(due, key=str)


@given(st.lists(memories, max_size=12, unique_by=lambda one: one.about))
def test_what_is_taken_for_each_other_stands_next_to_each_other(due):
    order = [one.slip for one in scheduler.in_order(due)]

    for group in SIBLINGS:
        at = [place for place, slip in enumerate(order) if slip in group]
        assert at == list(range(at[0], at[0] + len(at))) if at else True


def test_slips_come_before_whole_families():
    whole = CardState(family="matmul", slip="", state="", due_at=NOON - timedelta(days=9))
    slip = CardState(family="broadcast", slip="mean", state="", due_at=NOON)

    assert scheduler.in_order([whole, slip]) == [slip, whole]


@given(st.lists(st.sampled_from([AGAIN, HARD, GOOD]), min_size=1, max_size=12))
def test_a_card_comes_back_in_one_day_to_a_hundred_and_twenty(ratings):
    now, memory = NOON, scheduler.new_card(*ABOUT, NOON)
    for rating in ratings:
        memory = scheduler.review_card(memory, rating, now)

        assert timedelta(days=1) <= memory.due_at - now <= timedelta(days=120)
        now = memory.due_at


@given(st.integers(2, 8))
def test_what_goes_right_comes_back_later_and_later(times):
    now, memory, pauses = NOON, scheduler.new_card(*ABOUT, NOON), []
    for _ in range(times):
        memory = scheduler.review_card(memory, GOOD, now)
        # Near the longest pause a few days more or less are chance.
        pauses.append(min(memory.due_at - now, timedelta(days=100)))
        now = memory.due_at

    assert pauses == sorted(pauses)


@given(st.integers(0, 400))
def test_a_clock_that_was_set_back_brings_nothing_back_earlier(days):
    memory = scheduler.review_card(scheduler.new_card(*ABOUT, NOON), GOOD, NOON)

    assert scheduler.review_card(memory, GOOD, NOON - timedelta(days=days)).due_at >= memory.due_at - timedelta(days=1)


def test_after_a_slip_a_card_comes_back_sooner_than_after_a_solution():
    memory = scheduler.review_card(scheduler.new_card(*ABOUT, NOON), GOOD, NOON)
    again, good = (scheduler.review_card(memory, rating, memory.due_at) for rating in (AGAIN, GOOD))

    assert again.due_at < good.due_at


CARD = frozenset({ABOUT})
OTHER = ("matmul", "transposed")


@pytest.mark.parametrize(
    ("met", "ratings"),
    [
        (ReviewOutcome(cards=CARD, solved=True), {ABOUT: GOOD}),
        (ReviewOutcome(cards=CARD, solved=True, helped=True), {ABOUT: HARD}),
        (ReviewOutcome(cards=CARD, solved=True, failed=True), {ABOUT: HARD}),
        (ReviewOutcome(cards=CARD, solved=True, told=True), {ABOUT: AGAIN}),
        (ReviewOutcome(cards=CARD, slips=CARD, failed=True), {ABOUT: AGAIN}),
        (ReviewOutcome(cards=CARD, slips=CARD, failed=True, solved=True), {ABOUT: AGAIN}),
        (ReviewOutcome(cards=CARD, slips=frozenset({OTHER}), failed=True), {OTHER: AGAIN}),
        (ReviewOutcome(cards=CARD, slips=frozenset({OTHER}), failed=True, solved=True), {ABOUT: HARD, OTHER: AGAIN}),
        (ReviewOutcome(cards=CARD, failed=True), {}),
        (ReviewOutcome(cards=CARD), {}),
    ],
    ids=["solved", "hint", "unrecognised", "told", "slip", "slip-solved", "other", "other-solved", "failing", "open"],
)
def test_an_item_says_of_a_card_what_happened_at_it(met, ratings):
    assert scheduler.card_ratings(met) == ratings


@pytest.mark.parametrize(
    ("code", "slip"),
    [
        ("db:mean", "mean"),
        ("dx:share-missing:y", "share-missing"),
        ("dx:through:mean", "mean"),
        ("dX:through:db:mean", "mean"),
        ("dX:through:db:share-missing:y", "share-missing"),
        ("dW:transposed+sign", "transposed"),
        ("dW", ""),
        ("", ""),
    ],
)
def test_a_code_names_its_slip(code, slip):
    assert scheduler.slip_of(code) == slip


@pytest.mark.parametrize(
    ("code", "gradient"), [("db:mean", "db"), ("dX:through:db:mean", "db"), ("dx:through:mean", "dx"), ("dW", "dW")]
)
def test_a_code_names_the_gradient_of_its_slip(code, gradient):
    assert scheduler.gradient_of(code) == gradient


@pytest.mark.parametrize(
    ("code", "share"), [("dx:share-doubled:y", "y"), ("dx:share-factor:r:N", "r"), ("dx:factor:N", ""), ("dx:mean", "")]
)
def test_a_slip_in_a_share_names_the_result_that_it_comes_through(code: str, share: str) -> None:
    assert scheduler.share_of(code) == share


def test_a_sitting_has_six_items_or_ten_minutes():
    assert not scheduler.is_over(NOON, NOON + timedelta(minutes=9), 5)
    assert scheduler.is_over(NOON, NOON + timedelta(minutes=9), 6)
    assert scheduler.is_over(NOON, NOON + timedelta(minutes=10), 0)
    assert not scheduler.is_over(NOON, NOON - timedelta(hours=1), 0)


def test_an_operation_is_shown_then_completed_then_written():
    assert [scheduler.form_at(met) for met in range(4)] == ["worked", "fade", "write", "write"]


def test_every_form_comes_in_every_round_and_a_slip_in_half_of_it() -> None:
    forms = [scheduler.form_in_round(turn, "a session") for turn in range(12)]

    assert set(forms[:6]) == set(forms[6:]) == {"write", "which", "bug", "order", "shapes", "fade"}
    assert [form in scheduler.SHAPELY for form in forms] == [False, True] * 6


def test_sessions_differ_in_the_order_of_their_forms() -> None:
    orders = {tuple(scheduler.form_in_round(turn, f"session {at}") for turn in range(6)) for at in range(20)}

    assert len(orders) > 10
    assert {order[0] for order in orders} == {"write", "bug", "which"}


@pytest.mark.parametrize(("ago", "weeks"), [((), 0), ((0, 1, 6), 1), ((0, 8, 15), 3), ((27, 28, 400), 1), ((-1,), 1)])
def test_weeks_are_counted_back_from_today(ago, weeks):
    assert scheduler.weeks_practised([NOON - timedelta(days=day) for day in ago], NOON) == weeks


def test_a_rhythm_is_told_from_the_second_week_on():
    assert [scheduler.rhythm_text(weeks) for weeks in (0, 1)] == ["", ""]
    assert scheduler.rhythm_text(2) == "Practised in 2 of the last 4 weeks."


def test_what_went_wrong_a_month_ago_and_goes_right_now_is_new():
    long_ago = NOON - timedelta(days=40)
    history = {
        ABOUT: [(long_ago, AGAIN), (NOON, GOOD)],
        OTHER: [(long_ago, AGAIN), (NOON, AGAIN)],
        ("matmul", ""): [(long_ago, GOOD), (NOON, GOOD)],
        ("index", "sign"): [(NOON - timedelta(days=3), AGAIN), (NOON, GOOD)],
        ("softmax", "sign"): [(NOON - timedelta(days=28), AGAIN), (NOON, GOOD)],
    }

    assert scheduler.newly_able(history, NOON) == [ABOUT, ("softmax", "sign")]
