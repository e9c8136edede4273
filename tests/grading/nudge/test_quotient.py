import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.grading.nudge.quotient import STEPS, quotient_remark, quotient_text, read_entry, read_quotient


def measured(function, x, size=1.0):
    """The quotient of a function of one number at *x*."""
    rows = [
        [function(x + h), function(x - h), function(x + h) - function(x), function(x) - function(x - h)] for h in STEPS
    ]
    return read_quotient(np.array(rows, dtype=np.float64), size)


@pytest.mark.parametrize(
    ("function", "x", "slope"),
    [
        (lambda x: 2 * x**3 - 5 * x, 2.0, 19.0),
        (math.tanh, 0.3, 1 - math.tanh(0.3) ** 2),
        (lambda x: math.exp(9 * x), 1.0, 9 * math.exp(9)),
        (lambda x: math.log(x) if x > 0 else math.nan, 1e-3, 1e3),
        (lambda x: max(0.0, x), 0.004, 1.0),
        (lambda x: 0 * x, 1.0, 0.0),
        (abs, -0.0002, -1.0),
    ],
)
def test_the_step_is_chosen_so_that_the_quotient_is_the_slope(function, x, slope):
    found = measured(function, x, abs(function(x)))

    assert found.value == pytest.approx(slope, rel=1e-6, abs=1e-9)
    assert found.settled
    assert not found.kink
    assert quotient_remark(found) == ""


@pytest.mark.parametrize("function", [lambda x: max(0.0, x), abs, lambda x: max(3 * x, x + x**2)])
def test_a_kink_is_said_with_both_sides_and_not_hidden_behind_their_mean(function):
    found = measured(function, 0.0)

    assert found.kink
    assert "kink" in quotient_remark(found)
    assert f"{found.right:.6g} to the right" in quotient_remark(found)
    assert f"{found.left:.6g} to the left" in quotient_remark(found)
    assert "lies between" in quotient_text(found, found.value, 1.0)
    assert "outside" in quotient_text(found, found.right + 1, 1.0)


@pytest.mark.parametrize("function", [math.floor, lambda x: 1.0 if x > 0 else -1.0])
def test_a_jump_has_no_slope(function):
    found = measured(function, 0.0)

    assert not found.settled
    assert "jumps" in quotient_remark(found)


def test_where_l_is_not_finite_there_is_no_quotient():
    assert measured(lambda _: math.inf, 1.0) is None
    assert measured(lambda x: math.nan if x != 1.0 else 1.0, 1.0) is None


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (19.0, "agree up to rounding"),
        (19.000001, "agree up to rounding"),
        (-19.0, "opposite sign"),
        (38.0, "2 times"),
        (0.0, "your number is zero"),
        (20.2, "differ by 1.2"),
    ],
)
def test_the_difference_is_told_in_words(own, said):
    found = measured(lambda x: 2 * x**3 - 5 * x, 2.0, 26.0)

    assert said in quotient_text(found, own, 19.0)


def test_an_entry_that_moves_nothing_is_told_apart_from_a_number():
    still = measured(lambda _: 1.0, 1.0)

    assert quotient_text(still, 0.0, 1.0) == "Your number is the quotient to the last digit."
    assert "does not move L" in quotient_text(still, 3.0, 1.0)
    assert "agree up to rounding" in quotient_text(still, 5e-9, 1.0)


@pytest.mark.parametrize("text", ["1, 2", "[1, 2]", "(1,2)", " 1 2 ", "1,2,", "-2, -2", "\u22122, 2"])
def test_an_index_may_be_written_in_any_usual_way(text):
    assert read_entry(text, "dW", (3, 4)) in {(1, 2)}


@pytest.mark.parametrize("text", ["", "[]", "()"])
def test_a_scalar_takes_no_index(text):
    assert read_entry(text, "dL", ()) == ()


@pytest.mark.parametrize(
    ("text", "shape", "said"),
    [
        ("", (3, 4), "give 2 whole numbers, from 0 to 2 and from 0 to 3; none was given"),
        ("1", (3, 4), "1 was given"),
        ("1, 2, 3", (3, 4), "3 were given"),
        ("3, 0", (3, 4), "axis 0 goes from 0 to 2, so there is no entry 3"),
        ("0, -5", (3, 4), "axis 1 goes from 0 to 3, so there is no entry -5"),
        ("0.5, 1", (3, 4), "`0.5, 1` is no index"),
        ("one", (3,), "`one` is no index. `dW` has shape `(3,)`: give one whole number, from 0 to 2"),
        (":, 0", (3, 4), "is no index"),
        ("[[0, 1]]", (3, 4), "is no index"),
        ("1" * 5000, (3,), "is no index"),
        ("\u0661", (3,), "is no index"),
        ("0", (), "it is one number and takes no index; 1 was given"),
        ("0, 0", (0, 4), "axis 0 is empty"),
    ],
)
def test_what_is_no_index_is_explained_with_the_shape(text, shape, said):
    found = read_entry(text, "dW", shape)

    assert isinstance(found, str)
    assert said in found
    assert "shape" in found


@given(st.text(max_size=40), st.lists(st.integers(0, 9), max_size=4).map(tuple))
def test_any_text_is_an_entry_or_is_explained(text, shape):
    found = read_entry(text, "dW", shape)

    if isinstance(found, tuple):
        assert all(0 <= at < size for at, size in zip(found, shape, strict=True))
    else:
        assert found.endswith(".")
