"""A code is read however it was typed, and never as another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.teaching.codes import ALPHABET, fresh_code, read_code, shown_code


@pytest.mark.parametrize(
    "typed", ["K7Q-M2X-9DV", "k7qm2x9dv", " k7q m2x\t9dv ", "K7Q–M2X—9DV", "k.7.q.m.2.x.9.d.v", "Ｋ７Ｑm2x9dv"]
)
def test_separators_and_case_do_not_matter(typed: str) -> None:
    assert read_code(typed) == "K7QM2X9DV"


def test_letters_that_look_like_digits_are_read_as_those() -> None:
    assert read_code("oil-OIL-000") == "011011000"


@pytest.mark.parametrize("typed", ["", "K7Q", "K7Q-M2X-9DVX", "U" * 9, "é" * 9, "K7Q-M2X-9D\0V1", "x" * 10**6])
def test_what_cannot_be_a_code_is_none(typed: str) -> None:
    assert read_code(typed) is None


@given(st.text(ALPHABET, min_size=9, max_size=9))
def test_a_code_is_read_as_it_is_shown(code: str) -> None:
    assert read_code(shown_code(code).lower()) == code


def test_fresh_codes_are_codes_and_differ() -> None:
    codes = {fresh_code() for _ in range(100)}

    assert len(codes) == 100
    assert all(read_code(one) == one for one in codes)
