"""What a gradient and its reference have between them, as a map and in words."""

import numpy as np
import pytest

from app.grading.judge.compare import Reference
from app.grading.judge.differences import SIDE, differences
from app.grading.judge.verdict import STEPS, Differences

draw = np.random.default_rng(7)
TABLE = draw.normal(size=(32, 27))
BOX = draw.normal(size=(6, 3, 5))
ROW = draw.normal(size=(9,))


def told(got: np.ndarray, gradient: np.ndarray) -> Differences:
    found = differences(got.astype(np.float32), Reference(gradient=gradient))
    assert found is not None
    return found


def spoiled(array: np.ndarray, *places: object) -> np.ndarray:
    """*array* with other numbers at *places*."""
    array = array.copy()
    for number, place in enumerate(places, start=1):
        array[place] += draw.normal(size=array[place].shape) + number
    return array


@pytest.mark.parametrize(
    ("got", "gradient", "pattern"),
    [
        (TABLE + 0.3, TABLE, "Every entry is off by the same number."),
        (TABLE * 27, TABLE, "Every entry is off by the same factor."),
        (-BOX, BOX, "Every entry is off by the same factor."),
        (TABLE * 0, TABLE, "Every entry is zero."),
        (TABLE + TABLE[0], TABLE, "Each column is off by one number, the same in all 32 rows."),
        (TABLE + TABLE[:, :1], TABLE, "Each row is off by one number, the same in all 27 columns."),
        (TABLE * TABLE[0], TABLE, "Each column is off by one factor, the same in all 32 rows."),
        (TABLE / TABLE[:, :1], TABLE, "Each row is off by one factor, the same in all 27 columns."),
        (BOX + BOX[:1], BOX, "Along axis 0 every entry is off by the same number."),
        (BOX + BOX[:1, :, :1], BOX, "Along axis 0 and axis 2 every entry is off by the same number."),
        (BOX * BOX[:, :1], BOX, "Along axis 1 every entry is off by the same factor."),
        (spoiled(TABLE, np.s_[:, 3]), TABLE, "Only column 3 differs."),
        (spoiled(TABLE, np.s_[5], np.s_[0]), TABLE, "Only rows 0 and 5 differ."),
        (spoiled(TABLE, np.s_[:, 2:10]), TABLE, "Only 8 of the 27 columns differ."),
        (spoiled(BOX, np.s_[:, 2]), BOX, "Only place 2 along axis 1 differs."),
        (spoiled(TABLE, (range(32), draw.integers(0, 27, 32))), TABLE, "In each row one entry differs."),
        (spoiled(TABLE, np.s_[4, 4]), TABLE, "1 of the 864 entries differs."),
        (spoiled(TABLE, np.s_[:31, :26]), TABLE, "806 of the 864 entries differ."),
        (spoiled(TABLE, np.s_[:]), TABLE, "All 864 entries differ, in no pattern by row or column."),
        (TABLE**2 * 1e-5, TABLE, "All 864 entries differ, in no pattern by row or column."),
        (spoiled(ROW, 1, 2), ROW, "2 of the 9 entries differ."),
        (spoiled(ROW, np.s_[:]), ROW, "All 9 entries differ, in no pattern by axis."),
        ((TABLE + TABLE[0])[:, None], TABLE[:, None], "Each column is off by one number, the same in all 32 rows."),
        (np.where(TABLE > 1, np.nan, TABLE), TABLE, f"{(TABLE > 1).sum()} of the 864 entries are not a number."),
    ],
)
def test_the_pattern_is_said_in_words(got, gradient, pattern):
    assert told(got, gradient).pattern == pattern


def test_the_map_shows_the_difference_and_not_the_ratio():
    gradient = np.array([[100.0, 0.01, 5.0, 5.0]])
    found = told(gradient + np.array([[1.0, 1.0, -0.25, 0.0]]), gradient)

    assert found.rows == (f"{STEPS[-1]}{STEPS[-1]}{STEPS[5].upper()}.",)
    assert found.largest == pytest.approx(1.0)


def test_a_wide_table_is_shown_whole_up_to_sixty_four_columns():
    gradient = draw.normal(size=(32, 64))
    found = told(gradient + gradient[0], gradient)

    assert found.corner == (0, 0)
    assert [len(row) for row in found.rows] == [64] * 32


@pytest.mark.parametrize(
    ("shape", "worst", "corner"),
    [
        ((200, 5), (150, 2), (118, 0)),
        ((200, 5), (199, 2), (136, 0)),
        ((3, 500), (0, 1), (0, 0)),
        ((40, 3, 10), (30, 1, 4), (56, 0)),
    ],
)
def test_of_a_larger_one_a_part_is_shown_that_holds_what_differs_most(shape, worst, corner):
    gradient = draw.normal(size=shape)
    got = gradient.copy()
    got[worst] += 100.0
    found = told(got, gradient)

    assert (found.shape, found.corner) == (shape, corner)
    assert STEPS[-1] in "".join(found.rows)
    assert len(found.rows) <= SIDE
    assert {len(row) for row in found.rows} == {min(SIDE, shape[-1])}


@pytest.mark.parametrize(
    ("got", "gradient"),
    [
        (None, TABLE),
        (TABLE.T, TABLE),
        (TABLE, TABLE),
        (TABLE * (1 + 1e-7), TABLE),
        (np.array(2.0), np.array(1.0)),
        (np.zeros((0, 3)), np.zeros((0, 3))),
    ],
)
def test_where_nothing_can_be_laid_over_nothing_is_drawn(got, gradient):
    assert differences(got, Reference(gradient=gradient)) is None


@pytest.mark.parametrize("got", [np.full((3, 4), 1e300), np.full((3, 4), np.inf), np.full((3, 4), -np.nan)])
def test_numbers_of_any_size_are_drawn(got):
    found = differences(got, Reference(gradient=np.ones((3, 4))))

    assert found is not None
    assert set("".join(found.rows)) <= set(STEPS + "?")
