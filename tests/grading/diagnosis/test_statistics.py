"""Statistics taken as constants, and the terms of fused normalisation, are read from the tensor alone."""

import ast
from dataclasses import replace

import numpy as np
import pytest

from app.grading.diagnosis import statistics
from app.grading.diagnosis.diagnose import diagnose
from app.grading.diagnosis.gradient_analysis import GradientAnalysis

BATCH = "dx = g * r / n * (n * dy - dy.sum(0) - n / (n - 1) * u * (dy * u).sum(0))"
LAYER = "dx = r * (du - du.mean(-1, keepdim=True) - u * (du * u).mean(-1, keepdim=True))"
LINES = [
    ("L18.c1", "dx = g * r * dy", "dx:statistics-constant"),
    ("L18.c1", BATCH.replace("n / (n - 1) * ", ""), "dx:share-factor:v:bessel"),
    ("L18.c1", BATCH.replace("- n / (n - 1)", "+ n / (n - 1)"), "dx:share-sign:v"),
    ("L18.c1", BATCH.replace("- dy.sum(0)", ""), "dx:share-missing:m"),
    ("L18.c1", BATCH.replace("/ n *", "*"), "dx:factor:N"),
    ("L18.c1", BATCH.replace("n * dy -", "dy -"), "dx:share-factor:u:1/N"),
    ("L18.c1", BATCH.replace("g * r", "r"), "dx:local-missing:mul"),
    ("L18.c1", BATCH.replace("g * r", "g"), "dx:divided-by:r"),
    ("L18.c1", BATCH.replace("dy * u", "dy / u"), "dx:term-changed:v"),
    ("L18.c1", BATCH.replace("(dy * u).sum(0)", "(dy * u)"), "dx:term-not-averaged:v"),
    ("L24.c1", "dx = r * du", "dx:statistics-constant"),
    ("L24.c1", LAYER.replace("-1", "0"), "dx:term-axis"),
    ("L24.c1", LAYER.replace("du.mean(-1", "du.mean(1"), "dx:term-axis"),
    ("L24.c1", LAYER.replace("(du * u).mean(-1", "(du * u).mean(0"), "dx:term-axis"),
    ("L24.c1", LAYER.replace("u * (du", "u * 2 * (du"), "dx:share-doubled:r"),
]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("box", "line", "code"), LINES, ids=[f"{box} {code}" for box, _, code in LINES])
def test_a_slip_in_a_fused_formula_has_its_code(beds, box, line, code):
    bed = beds(box)
    solution = [line if row.startswith("dx =") else row for row in bed.box.solution.strip().split("\n")]

    cases = bed.judged("\n".join(solution))

    assert diagnose(cases["x"]).code == code


def test_a_term_of_another_tensor_is_not_told_by_its_axes(beds):
    bed = beds("L24.c1")
    line = LAYER.replace("u * (du * u).mean(-1", "r * (du * r).mean(0")
    solution = [line if row.startswith("dx =") else row for row in bed.box.solution.strip().split("\n")]

    assert diagnose(bed.judged("\n".join(solution))["x"]) is None


@pytest.mark.parametrize("box", ["L18.c1", "L18.c2", "L24.c1", "L24.c2"])
def test_each_statistic_held_constant_is_recognised(beds, box):
    bed = beds(box)
    case = bed.case("x", [sight.look("x").reference for sight in bed.sights])
    view = GradientAnalysis(case)

    every = [mistake.predict for mistake in statistics.all_constant_hypotheses(view)]
    every += [lambda look, name=name: look.blocked[name] for name, one in case.looks[0].blocked.items() if one.any()]
    for predict in every:
        looks = tuple(replace(look, got=predict(look)) for look in case.looks)
        found = diagnose(replace(case, looks=looks, writes=tuple(ast.parse("dx = 0").body)))

        assert found.code.split(":")[1] in {"statistics-constant", "share-missing", "zeros"}


def test_the_reference_is_one_of_each_term(beds):
    bed = beds("L18.c1")
    case = bed.case("x", [sight.look("x").reference for sight in bed.sights])

    assert statistics.names_of(GradientAnalysis(case)) == ("m", "v")


@pytest.mark.parametrize(
    ("places", "wide", "code"),
    [
        pytest.param(2, False, "dx:term-changed:v", id="a tensor with two entries in each slice"),
        pytest.param(1, False, None, id="any number is that many times one entry"),
        pytest.param(2, True, None, id="a look at which each entry is a slice"),
    ],
)
def test_a_term_keeps_its_form_where_slices_of_two_entries_show_it(beds, places, wide, code):
    bed = beds("L18.c1")
    case = bed.case("x", [sight.look("x").reference for sight in bed.sights])
    looks = []
    for look in case.looks:
        term = np.zeros_like(look.reference)
        term[:places] = 1.0
        forward = {**look.forward, "v": term} if wide and look is not case.first_look else look.forward
        blocked = {**look.blocked, "v": look.reference - term}
        looks.append(replace(look, forward=forward, blocked=blocked, got=look.reference + term))

    found = statistics.diagnose_changed_term(GradientAnalysis(replace(case, looks=tuple(looks))))

    assert (found.code if found else None) == code
