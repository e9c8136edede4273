"""Shapes in words."""

import pytest

from app.content.text.sizes import shape_text
from app.grading.reading.shape_inference import Size

N, D = Size.of(5, "N"), Size.of(4, "D")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((N, D), "`(N, D)` = `(5, 4)`"),
        ((N, 1), "`(N, 1)` = `(5, 1)`"),
        ((1, 1), "`(1, 1)`"),
        ((N, 3), "`(5, 3)`"),
        ((), "`()`"),
    ],
)
def test_an_axis_of_size_one_leaves_the_others_their_names(shape: tuple[int, ...], words: str) -> None:
    assert shape_text(shape) == words
