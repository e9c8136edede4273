"""One wrong line, one name for it: the first of the cases that every learner meets."""

from dataclasses import replace

import numpy as np
import pytest

from app.grading.diagnosis.diagnose import describe_unrecognised, diagnose
from app.grading.diagnosis.unrecognised import too_coarse
from tests.grading.boxes.load import make_forward
from tests.grading.diagnosis.tape import Bed


class Layer:
    forward = make_forward("linear", "N: 4, D: 3, H: 5", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b")
    require = ("dX", "dW", "db")
    solution = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"


@pytest.fixture(scope="module")
def layer():
    return Bed(Layer)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("dX = W @ dY.T", "dX:transposed"),
        ("dX = -dY @ W.T", "dX:sign"),
        ("dX = 2 * dY @ W.T", "dX:doubled"),
        ("dX = dY @ W.T / N", "dX:factor:1/N"),
        ("dX = dY @ W.T / 4", "dX:factor:1/N"),
        ("dX = torch.ones_like(dY) @ W.T", "dX:upstream-missing"),
        ("dW = dY.T @ X", "dW:transposed"),
        ("dW = X.T @ dY * N", "dW:factor:N"),
        ("dW = X.T @ (X @ W)", "dW:unrecognised"),
        ("db = dY.sum(1)", "db:wrong-axis"),
        ("db = dY.mean(0)", "db:mean"),
        ("db = dY.sum(0, keepdim=True)", "db:keepdim-added"),
        ("db = dY", "db:not-reduced"),
        ("db = dY.sum()", "db:summed-all"),
        ("db = dY[0]", "db:one-slice"),
        ("db = -dY.sum(0, keepdim=True)", "db:keepdim-added+sign"),
        ("db = torch.zeros_like(b)", "db:zeros"),
        ("db = dY.sum(0).long()", "db:dtype"),
        ("db = dY.sum(0) / 0", "db:not-finite"),
    ],
)
def test_a_wrong_line_has_its_code(layer, line, code):
    name = line.split()[0]
    lines = [line if row.startswith(f"{name} =") else row for row in Layer.solution.splitlines()]

    cases = layer.judged("\n".join(lines))

    assert list(cases) == [name[1:]]
    found = diagnose(cases[name[1:]]) or describe_unrecognised(cases[name[1:]])
    assert found.code == code


@pytest.mark.parametrize(
    ("seen", "where"), [(1, "at position 1 along"), (2, "at position 2 along"), (None, "at some positions")]
)
def test_a_place_is_told_by_the_lessons_own_numbers_and_by_no_hidden_ones(beds, seen, where):
    bed = beds("network")

    def wrong(look, place):
        got = look.reference.copy()
        if place is not None:
            got[place] = np.sin(7 * got[place])
        return got

    gots = [wrong(sight.look("h"), 1) for sight in bed.sights]
    found = diagnose(bed.case("h", gots, visible=wrong(bed.visible_sight.look("h"), seen)))

    assert found.code == "dh:part-wrong:0"
    assert where in found.message


def test_zeros_of_a_coarse_type_are_told_by_their_type(layer):
    case = layer.case("b", [sight.look("b").reference for sight in layer.sights])
    zeros = [np.zeros_like(look.reference) for look in case.looks]
    looks = [
        replace(look, reference=zero, shares={}, got=zero.astype(np.float16))
        for look, zero in zip(case.looks, zeros, strict=True)
    ]

    assert too_coarse(replace(case, looks=tuple(looks), visible=None)).code == "db:dtype"
