"""The picture of a training run: what it shows, and that it says the same as a table."""

import re

import pytest

from app.engine.train.snapshot import Point
from app.web.pictures.curve import draw_curve

RATES = (0.1, 0.01)


def run(count, steps, reference=True):
    ends = [steps * (index + 1) // 100 for index in range(count)]
    return tuple(
        Point(step=end, own=3 - end / steps, reference=3.1 - end / steps if reference else None) for end in ends
    )


def test_nothing_is_drawn_before_the_first_point():
    assert draw_curve((), 2000, RATES) == ""


def test_both_lines_go_from_left_to_right_through_every_point():
    drawn = draw_curve(run(100, 2000), 2000, RATES)

    for name in ("curve-own", "curve-reference"):
        path = re.findall(rf'd="M([^"]*)" class="{name}"', drawn)[-1]  # the first is that of the legend
        places = [float(place.split()[0]) for place in path.split("L")]
        assert len(places) == 100
        assert places == sorted(places)


def test_the_words_and_the_table_say_the_same():
    drawn = draw_curve(run(100, 2000), 2000, RATES)

    assert (
        "Loss over 2,000 steps, from 2.99 to 2.00 at step 2,000. With autograd&#39;s gradients it is 2.10 there."
        in drawn
    )
    assert '<th scope="row">2,000</th><td>2.0000</td><td>2.1000</td>' in drawn
    assert drawn.count("<tr>") <= 22


def test_a_point_without_a_reference_has_a_dash():
    drawn = draw_curve(run(3, 200_000, reference=False), 200_000, RATES)

    assert "<td>–</td>" in drawn
    assert 'curve-reference"' in drawn, "the legend stays"


def test_the_change_of_rate_is_marked_once_the_run_is_that_far():
    assert "rate 0.1, then 0.01" in draw_curve(run(100, 2000), 2000, RATES)
    assert "rate 0.05, then 0.02" in draw_curve(run(100, 2000), 2000, (0.05, 0.02))
    assert ">rate " not in draw_curve(run(20, 2000), 2000, RATES)
    assert ">rate " not in draw_curve(run(100, 2000), 2000, (0.5, 0.5))


@pytest.mark.parametrize(("low", "high"), [(2.4, 2.4), (0.0, 0.001), (1.7, 3.9), (2.0, 900.0), (-5.0, 1e30)])
def test_any_range_of_losses_has_a_few_lines(low, high):
    drawn = draw_curve((Point(step=1, own=low, reference=high), Point(step=2, own=high, reference=low)), 2, RATES)

    assert 1 <= drawn.count("curve-grid") <= 9
    assert "nan" not in drawn
