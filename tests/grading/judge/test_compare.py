"""Shape first, then finiteness, then the numbers; nothing broadcasts."""

import numpy as np
import pytest

from app.grading.judge.compare import Reference, closeness, is_right_up_to_rounding, is_within_tolerance, worst_entries

GRADIENT = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
REFERENCE = Reference(gradient=GRADIENT, shares={"0.0": 6.0})


def test_the_reference_matches_itself():
    assert is_within_tolerance(GRADIENT, REFERENCE)


@pytest.mark.parametrize(
    "got",
    [
        np.array(0.0),
        GRADIENT[:1],
        GRADIENT[None],
        GRADIENT.T,
        np.where(GRADIENT > 4, np.nan, GRADIENT),
        np.where(GRADIENT > 4, np.inf, GRADIENT),
        GRADIENT * (1 + 1e-8),
        GRADIENT + 1e-8,
        None,
    ],
    ids=["scalar", "row", "extra axis", "transposed", "nan", "inf", "off by a factor", "off by a constant", "missing"],
)
def test_what_is_not_the_reference_does_not_match(got):
    assert not is_within_tolerance(got, REFERENCE)


def test_a_constant_does_not_match_by_broadcasting():
    reference = Reference(gradient=np.zeros((3, 4)), shares={"0.0": 0.0})

    assert not is_within_tolerance(np.zeros(4), reference)
    assert is_within_tolerance(np.zeros((3, 4)), reference)


def test_the_tolerance_is_relative_to_the_largest_share():
    small = Reference(gradient=GRADIENT * 1e-12, shares={"0.0": 1.0, "1.0": 1.0})

    assert is_within_tolerance(GRADIENT * 1e-12 + 9e-10, small)
    assert not is_within_tolerance(GRADIENT * 1e-12 + 2e-9, small)


def test_the_author_may_set_the_tolerance():
    assert is_within_tolerance(GRADIENT + 0.05, REFERENCE, atol=0.1)
    assert not is_within_tolerance(GRADIENT + 0.05, REFERENCE, atol=0.01)
    assert is_within_tolerance(GRADIENT * 1.01, REFERENCE, rtol=0.02)


def test_an_answer_is_as_fine_as_the_gradient_of_torch():
    single = Reference(gradient=GRADIENT.astype(np.float32), shares={"0.0": 6.0})

    assert not is_within_tolerance((GRADIENT / 3).astype(np.float32), Reference(gradient=GRADIENT / 3))
    assert is_within_tolerance((GRADIENT * (1 + 3e-6)).astype(np.float32), single)


def test_vacuous_gradients_and_silent_shares_are_told():
    assert Reference(gradient=np.full(3, 1e-17), shares={"0.0": 1e-17}, noise=0.1).vacuous
    assert Reference(gradient=GRADIENT, shares={"0.0": 6.0, "1.0": 1e-16}, noise=6.0).silent_shares == ("1.0",)
    assert not REFERENCE.vacuous


def test_noise_agrees_up_to_the_rounding_of_its_terms():
    assert is_right_up_to_rounding(np.zeros(3), Reference(gradient=np.full(3, 1e-17), shares={"0.0": 1e-17}, noise=0.1))


def test_closeness_is_that_of_a_cmp_line():
    close = closeness(GRADIENT.astype(np.float32), REFERENCE)
    assert (close.exact, close.approx, close.maxdiff) == (True, True, 0.0)
    near = closeness(GRADIENT + 1e-7, REFERENCE)
    assert (near.exact, near.approx) == (False, True)
    turned = closeness(GRADIENT.T, REFERENCE)
    assert (turned.exact, turned.approx, turned.maxdiff) == (False, False, None)
    assert closeness(np.full_like(GRADIENT, np.nan), REFERENCE).maxdiff is None
    assert closeness(None, REFERENCE) is None


def test_worst_entries_tell_how_far_they_are_off_and_by_what_ratio():
    got = GRADIENT.copy()
    got[1, 2] = 12.0
    (worst,) = worst_entries(got, REFERENCE)

    assert (worst.index, worst.yours, worst.off, worst.ratio) == ((1, 2), 12.0, 18.0, -2.0)
