"""What a class gained between two forms."""

import random

import pytest

from app.insight.gain import gain_between

CLASSES, LEARNERS = 300, 40


def test_nobody_gains_nothing():
    assert gain_between([]) is None


def test_a_gain_is_the_mean_over_learners_who_took_both():
    gain = gain_between([(0.0, 0.5), (0.5, 0.5)])

    assert (gain.learners, gain.before, gain.after) == (2, 0.25, 0.5)
    assert gain.mean == pytest.approx(0.25)


def test_few_who_gained_alike_are_no_certainty():
    few, many = (gain_between([(0.2, 0.5)] * count).difference for count in (3, 60))

    assert few.low < 0 < many.low < 0.3 < many.high < few.high


def test_an_interval_that_is_looked_at_after_each_learner_seldom_misses():
    chance = random.Random(7)
    missed = 0
    for _ in range(CLASSES):
        pairs, outside = [], False
        for _ in range(LEARNERS):
            shares = [sum(chance.random() < share for _ in range(6)) / 6 for share in (0.3, 0.55)]
            pairs.append(tuple(shares))
            difference = gain_between(pairs).difference
            outside |= not difference.low <= 0.25 <= difference.high
        missed += outside

    assert missed / CLASSES <= 0.05
