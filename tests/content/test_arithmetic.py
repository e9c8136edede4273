"""Sums in text: exact where they can be, bounded always."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.text.arithmetic import UnreadableError, integer_of, number_of, value_of

NAMES = {"n": 32, "block": 3, "half": 0.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/(n-1)", Fraction(1, 31)),
        ("block*10", Fraction(30)),
        ("3.2e-2", Fraction(32, 1000)),
        ("0,0323", Fraction(323, 10000)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("−1/2", Fraction(-1, 2)),
        ("3 × 4 ÷ 2", Fraction(6)),
        ("3 ∙ 4 — 2", Fraction(10)),
        ("7\u2007‑\u200b\u20032", Fraction(5)),
        ("2^3", Fraction(8)),
        ("-2**2", Fraction(-4)),
        ("2**-1", Fraction(1, 2)),
        ("2**3**2", Fraction(512)),
        ("7//2", Fraction(3)),
        ("- - 1", Fraction(1)),
        ("(2)(-1)", Fraction(-2)),
        ("2(3)^2", Fraction(18)),
        ("3n", Fraction(96)),
        ("2(3)(4)/2", Fraction(12)),
        ("64x768", Fraction(49152)),
        ("2 X 3x4", Fraction(24)),
        (r"\frac{1}{n-1}", Fraction(1, 31)),
        (r"\dfrac{\frac{1}{2}}{4} \cdot 8", Fraction(1)),
        ("2³", Fraction(8)),
        ("10⁻²", Fraction(1, 100)),
    ],
)
def test_whole_numbers_and_fractions_are_exact(text, value):
    assert value_of(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("e", math.e),
        ("2pi", 2 * math.pi),
        ("np.log(2) + math.log(2) - torch.ln(2)", math.log(2)),
        ("sigmoid(-1)", 1 / (1 + math.e)),
        (r"\sqrt{2}", math.sqrt(2)),
        ("half**0.5", math.sqrt(0.5)),
        ("tanh(1)", math.tanh(1)),
        ("exp(1)/(1+exp(1))", 1 / (1 + math.exp(-1))),
    ],
)
def test_functions_give_floats(text, value):
    assert number_of(text, NAMES) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("1 2", 3),
        ("1 + m", 5),
        ("(1", 3),
        ("1 +", 4),
        ("open(1)", 1),
        ("n.real", 2),
        ("1 if n else 2", 3),
        ("[1]", 1),
        ("n(3)", 2),
        ("0x10", 2),
    ],
)
def test_what_cannot_be_read_has_a_column(text, column):
    with pytest.raises(UnreadableError) as caught:
        value_of(text, NAMES)

    assert caught.value.column == column


HUGE = ["9**9**9", "9**9**9**9", "2**99999", "(2**1000)**1000", "1e999999999", "exp(1e9)", "9999999999" * 39]
IMPOSSIBLE = ["1/0", "0**-1", "sqrt(-1)", "(-8)**0.5"]
LONG = ["(" * 10_000, "-" * 10_000, "1" * 10_000, "1**" * 120 + "1"]


@pytest.mark.parametrize("text", [*HUGE, *IMPOSSIBLE, *LONG], ids=lambda text: text[:20])
def test_huge_and_impossible_values_are_refused(text):
    with pytest.raises(UnreadableError):
        number_of(text, NAMES)


def test_a_given_number_goes_before_a_constant_of_its_name():
    assert value_of("e", {"e": 7}) == 7


def test_a_fraction_without_its_lower_half_is_told():
    with pytest.raises(UnreadableError, match="below the fraction"):
        value_of(r"\frac{1}")


def test_a_size_is_whole():
    assert integer_of("n*block", NAMES) == 96
    with pytest.raises(UnreadableError, match="not a whole number"):
        integer_of("n/3", NAMES)


@given(
    st.text(alphabet="0123456789.,eE+-−*/^(){}\\\\frac xXn blocksqrtexp×÷ \t_é²⁻", max_size=60) | st.text(max_size=60)
)
def test_any_text_gives_a_finite_number_or_is_unreadable(text):
    try:
        number = number_of(text, NAMES)
    except UnreadableError:
        return

    assert math.isfinite(number)
