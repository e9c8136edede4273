"""The gradients of a box as columns: parallel ones beside each other, and a line only where something flows."""

import re

import pytest

from app.web.pictures.flow import PASSING, gradient_flow
from tests.grading.boxes.load import NETWORK, make_forward

LINEAR = make_forward("linear", "N: 6, D: 4, H: 3", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b\n")
FORK = make_forward("fork", "N: 6", "x: [N]; s: [N]", "L", "a = x * 2\nb = a * s\nc = b + a\nL = c.sum()\n")


def lanes(forward, *names, given=()):
    return [column.lanes for column in gradient_flow(forward, names, given)[0]]


def test_what_comes_from_one_gradient_stands_in_one_column():
    columns, sources = gradient_flow(LINEAR, ("dX", "dW", "db"))

    assert [column.lanes for column in columns] == [("dY",), ("dX", "dW", "db")]
    assert sources == dict.fromkeys(("dX", "dW", "db"), ("dY",))
    assert len(re.findall("C13", columns[1].joint)) == 3
    assert not columns[0].joint


def test_what_is_read_again_further_on_passes_in_a_lane_of_its_own():
    assert lanes(FORK, "dc", "db", "da", "dx") == [("dL",), ("dc",), ("db", PASSING), ("da",), ("dx",)]


def test_a_gradient_that_nobody_asked_for_is_passed_over():
    assert lanes(FORK, "dc", "dx") == [("dL",), ("dc",), ("dx",)]
    assert gradient_flow(FORK, ("dc", "dx"))[1] == {"dc": ("dL",), "dx": ("dc",)}


def test_what_is_given_begins_a_line():
    assert lanes(FORK, "da", "ds", given=("db", "dc")) == [("db", "dc"), ("da", "ds")]


def test_all_outputs_of_one_statement_are_known():
    forward = make_forward("split", "N: 6", "x: [N, 4]", "y", "a, b = x.chunk(2, 1)\ny = a * b\n")

    assert gradient_flow(forward, ("da", "db", "dx"))[1]["dx"] == ("da", "db")


@pytest.mark.parametrize("names", [NETWORK.require, NETWORK.require[3:9]])
def test_every_name_of_the_exam_stands_once_and_after_its_sources(names):
    columns, sources = gradient_flow(NETWORK.forward, names)

    at = {name: index for index, column in enumerate(columns) for name in column.lanes if name not in ("", PASSING)}
    assert set(names) <= at.keys()
    assert sum(len([one for one in column.lanes if one in names]) for column in columns) == len(names)
    assert all(at[one] < at[name] for name in names for one in sources[name])
    assert all(column.lanes[-1] for column in columns)
