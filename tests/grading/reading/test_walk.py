"""A program walked by hand: its gradients are what nudging finds, and its shares add up to them."""

import numpy as np
import pytest

from app.content.blocks import Forward
from app.course.parse import parse_lesson
from app.grading.reading.node import UntracedError
from app.grading.reading.walk import difference_quotients, trace_program

TOP = "---\ntitle: T\nid: t\nestimate: 1 min\n---\n\n"
TABLE, ROW, UP = [[0.5, -1.2, 2.0], [0.1, 0.7, -0.4]], [1.5, -0.3, 0.8], [[1.0, -1.0, 2.0], [0.5, 3.0, -2.0]]
POINT = {"A": TABLE, "b": ROW, "dY": UP}


def program(inputs: str, output: str, *lines: str) -> Forward:
    text = f"{TOP}```{{forward}} p\n:inputs: {inputs}\n:output: {output}\n" + "\n".join(lines) + "\n```\n"
    lesson, errors = parse_lesson(text, "01-t.md")
    assert lesson is not None, [str(error) for error in errors]
    return lesson.forwards["p"]


@pytest.mark.parametrize(
    "line",
    [
        "Y = A + b",
        "Y = A * b",
        "Y = A / (b + 3)",
        "Y = torch.tanh(A) - b * A",
        "Y = torch.softmax(A, 1) + b",
        "Y = A.cumsum(1) * b",
        "Y = A.max(1, keepdim=True).values + b",
        "Y = A.sum(0, keepdim=True) * A + b",
        "Y = A @ (A.T @ A) + b",
        "Y = A.flip(1) * b",
        "Y = A.T.reshape(2, 3) * b",
    ],
)
def test_the_gradients_of_a_walk_are_what_nudging_finds(line):
    forward = program("{A: [2, 3], b: [3]}", "Y", line)

    walk = trace_program(forward, POINT)

    for name in ("A", "b"):
        assert walk.gradients[name] == pytest.approx(difference_quotients(forward, POINT, name), abs=1e-6)


def test_the_shares_of_a_fork_come_one_by_one_and_the_last_one_finishes_it():
    forward = program("{a: [], b: []}", "L", "c = a * b", "d = c + a", "L = d * c")

    shares = [one for one in trace_program(forward, {"a": 2, "b": -3}).shares if one.tensor == "c"]

    assert [(one.output, one.value.item(), one.local, one.total.item(), one.finished) for one in shares] == [
        ("L", -4.0, -4.0, -4.0, False),
        ("d", -6.0, 1.0, -10.0, True),
    ]


def test_a_tensor_that_is_read_twice_in_a_line_is_handed_two_shares():
    forward = program("{x: []}", "y", "y = x * x")

    shares = trace_program(forward, {"x": 3}).shares

    assert [(one.value.item(), one.finished) for one in shares] == [(3.0, False), (3.0, True)]


def test_rows_that_are_looked_up_twice_get_both_shares():
    forward = program('{C: [3, 2], ix: "[2] ints(3)"}', "e", "e = C[ix]")

    walk = trace_program(forward, {"C": np.zeros((3, 2)).tolist(), "ix": [1, 1], "de": [[1, 2], [3, 4]]})

    assert walk.gradients["C"].tolist() == [[0, 0], [4, 6], [0, 0]]


@pytest.mark.parametrize(
    ("line", "point"),
    [
        ("Y = torch.linalg.inv(A)", POINT),
        ("Y = A + b", {"A": TABLE, "b": [1, 2], "dY": UP}),
        ("Y = A + b", {"A": TABLE, "b": ROW}),
        ("Y = A + b", {"A": TABLE}),
    ],
    ids=["unknown operation", "shape", "no gradient of the output", "no number"],
)
def test_what_cannot_be_walked_is_said(line, point):
    with pytest.raises(UntracedError):
        trace_program(program("{A: [2, 3], b: [3]}", "Y", line), point)
