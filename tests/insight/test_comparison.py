"""The interval of a difference holds at any time, however often it is looked at, and finds what there is to find."""

import random

import pytest

from app.insight.comparison import ERROR, Arm, Difference, difference


def test_before_anybody_answered_it_says_nothing() -> None:
    assert difference(Arm(0, 0), Arm(0, 0)) == Difference(-1.0, 1.0)
    assert difference(Arm(0, 0), Arm(0, 0)).winner is None


@pytest.mark.parametrize(
    ("first", "second"), [(Arm(1, 0), Arm(40, 40)), (Arm(7, 0), Arm(5, 5)), (Arm(9, 3), Arm(12, 4))]
)
def test_it_holds_what_was_seen_and_is_the_same_the_other_way_round(first: Arm, second: Arm) -> None:
    there, back = difference(first, second), difference(second, first)

    assert -1 <= there.low <= second.share - first.share <= there.high <= 1
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-6)


def test_more_answers_make_it_narrower() -> None:
    widths = [(seen := difference(Arm(n, n // 3), Arm(n, n // 2))).high - seen.low for n in (12, 60, 600, 6000)]

    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.1


@pytest.mark.parametrize(("right", "winner"), [((60, 120), 1), ((120, 60), 0), ((90, 93), None)])
def test_a_winner_is_told_where_the_interval_leaves_zero(right: tuple[int, int], winner: int | None) -> None:
    assert difference(Arm(200, right[0]), Arm(200, right[1])).winner is winner


def missed(trials: int, days: int, a_day: int, shares: tuple[float, float], seed: int) -> float:
    """Of so many comparisons, in how many a look at the end of any day has an interval without the true difference."""
    draw, found = random.Random(seed), 0
    for _ in range(trials):
        tries, right = [0, 0], [0, 0]
        for _ in range(days):
            for _ in range(a_day):
                arm = draw.randrange(2)
                tries[arm] += 1
                right[arm] += draw.random() < shares[arm]
            seen = difference(Arm(tries[0], right[0]), Arm(tries[1], right[1]))
            if not seen.low <= shares[1] - shares[0] <= seen.high:
                found += 1
                break
    return found / trials


def test_daily_looks_find_few_winners_where_there_is_none() -> None:
    assert missed(200, 20, 6, (0.4, 0.4), seed=1) <= ERROR


@pytest.mark.prove
@pytest.mark.parametrize("a_day", [1, 10])
@pytest.mark.parametrize("shares", [(0.1, 0.1), (0.5, 0.5), (0.8, 0.8), (0.3, 0.5)])
def test_of_a_thousand_comparisons_with_daily_looks_few_ever_miss(shares: tuple[float, float], a_day: int) -> None:
    """A winner where there is none is a miss of the difference 0."""
    assert missed(1000, 120, a_day, shares, seed=2) <= ERROR
