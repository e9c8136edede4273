"""A program that reads every place of an axis by its number is one for this size alone."""

import pytest

from app.grading.forward.counted_dims import counted_dims
from app.grading.forward.data import hidden_dims
from tests.grading.boxes.load import make_forward


def program(source):
    return make_forward("steps", "B: 8, T: 3", "x: [B, T]; w: [T]", "y", source)


@pytest.mark.parametrize(
    ("source", "dims"),
    [
        ("y = x[:, 0] + x[:, 1] * x[:, 2]\n", {"T": 3}),
        ("y = x[:, 0] + x[:, 1] * x[:, -1]\n", {"T": 3}),
        ("y = x[:, 0] + x[:, 0] * x[:, 1]\n", {}),
        ("y = x[:, 0] + x[:, 1] * x[:, 2] + x.sum(1)\n", {}),
        ("y = x[:, 0] + x[:, 1] + x[:, 1:].sum(1)\n", {}),
        ("y = x[..., 0] + x[..., 1] + x[..., 2]\n", {}),
        ("y = x[0] + x[1] + x[2]\n", {}),
        ("y = x @ w\n", {}),
    ],
)
def test_dim_is_counted_where_every_place_is_read_by_number(source, dims):
    assert counted_dims(program(source)) == dims


def test_counted_dim_keeps_its_size_on_hidden_data():
    forward = program("y = x[:, 0] + x[:, 1] * x[:, 2]\n")

    assert [hidden_dims(forward, shift)["T"] for shift in (0, 1)] == [3, 3]
    assert 8 not in [hidden_dims(forward, shift)["B"] for shift in (0, 1)]
