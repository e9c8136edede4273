"""Axes and products are judged by what they give, not by shapes that happen to fit."""

from itertools import combinations

import pytest

from app.course.parse import parse_lesson
from app.course.prove_quizzes import prove_quiz
from app.grading.forward.facts import Facts
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.axes.block import AxesQuestion
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.matmul.mark import right_products
from app.kinds.registry import mark_quiz, right_answers

PAGE = """---
title: T
id: t
estimate: 1 min
---

```{{forward}} f
:dims: {{N: 4, D: 3, H: 5, B: 2, S: 6}}
:inputs: {{{inputs}}}
:output: {output}
{program}
```

:::{{{kind}}} q
:forward: f
{options}

Which?
:::
"""


def asked(kind, inputs, program, options, output="Y"):
    lesson, errors = parse_lesson(
        PAGE.format(kind=kind, inputs=inputs, program=program, options=options, output=output), "1-a/01-t.md"
    )
    assert lesson is not None, [str(one) for one in errors]
    (quiz,) = (one for one in lesson.exercises if isinstance(one, AxesQuestion | MatmulQuestion))
    return lesson, quiz, lesson.forwards["f"]


def right_choices(inputs, program, of, source):
    _, quiz, forward = asked("axes", inputs, program, f":of: {of}\n:from: {source}")
    shapes = infer_shapes(forward)
    axes = range(len(shapes[source.removeprefix("d")] if source not in shapes else shapes[source]))
    choices = [list(map(str, some)) for size in range(len(axes) + 1) for some in combinations(axes, size)]
    return ["".join(one) for one in choices if mark_quiz(quiz, one, shapes, forward).correct]


AXES = {
    "a bias": ("X: [N, D], b: [D]", "Y = X + b", "db", "dY", ["0"]),
    "a bias that is viewed as a column": ("X: [B, N, D], b: [N]", "Y = X + b.view(N, 1)", "db", "dY", ["02"]),
    "a gain": ("X: [B, N, D], g: [D]", "Y = X * g", "dg", "dY", ["01"]),
    "a gain behind a bias": ("X: [N, D], g: [D], b: [D]", "Z = X * g\nY = torch.tanh(Z + b)", "dg", "dZ", ["0"]),
    "through a step between": ("X: [N, D], b: [D]", "Z = X + b\nY = torch.relu(Z)", "db", "dY", ["0"]),
    "two equal sizes, copied down": ("X: [N, N], b: [N]", "Y = X + b", "db", "dY", ["0"]),
    "two equal sizes, copied right": ("X: [N, N], b: [N]", "Y = X + b.unsqueeze(1)", "db", "dY", ["1"]),
    "an axis of one": ("X: [N, D], c: [N, 1]", "Y = X - c", "dc", "dY", ["1"]),
    "nothing was copied": ("X: [N, D], Z: [N, D]", "Y = X * Z", "dZ", "dY", [""]),
    "another product's gradient": ("X: [N, D], W: [D, H], b: [H]", "Y = X @ W + b", "db", "dW", []),
    "a product": ("X: [N, D], W: [D, H]", "Y = X @ W", "dW", "dY", []),
    "the mean of a batch": ("X: [N, D], b: [D]", "Y = (X + b).mean(0)", "db", "dX", ["0"]),
}  # fmt: skip


@pytest.mark.parametrize("case", AXES, ids=str)
def test_axes_are_right_that_the_rule_sums_over(case):
    *asked_of, expected = AXES[case]

    assert right_choices(*asked_of) == expected


PRODUCTS = {
    "a layer": ("X: [N, D], W: [D, H]", "Y = X @ W", "dW", "X.T @ dY"),
    "a transposed weight": ("X: [N, D], W: [H, D]", "Y = X @ W.T", "dW", "dY.T @ X"),
    "a linear layer of torch": ("X: [N, D], W: [H, D]", "Y = F.linear(X, W)", "dW", "dY.T @ X"),
    "a batch of products": ("A: [B, N, D], C: [B, D, H]", "Y = A @ C", "dC", "A.T @ dY"),
    "scores": ("q: [B, N, D], k: [B, S, D]", "Y = q @ k.mT", "dk", "dY.T @ q"),
    "a weight under a batch": ("X: [B, N, D], W: [D, H]", "Y = X @ W", "dW", "X.T @ dY"),
    "einsum": ("X: [N, D], W: [H, D]", 'Y = torch.einsum("nd,hd->nh", X, W)', "dW", "dY.T @ X"),
    "the second of two layers": ("X: [N, D], W: [D, H], V: [H, D]", "Z = X @ W\nY = torch.tanh(Z) @ V", "dZ", ""),
    "square and equal": ("X: [N, N], W: [N, N]", "Y = X @ W", "dX", "dY @ W.T"),
}


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_a_product_is_right_that_gives_the_numbers(case):
    inputs, program, of, expected = PRODUCTS[case]
    _, quiz, forward = asked("matmul", inputs, program, f":of: {of}")
    found = right_products(quiz, infer_shapes(forward), forward)

    assert (expected in found) if expected else (found == ())
    for wrong in ("X @ dY", "dY @ W", "W.T @ dY", "dY @ X.T", "X.T @ W"):
        if wrong not in found:
            assert not mark_quiz(quiz, wrong, infer_shapes(forward), forward).correct


def test_a_product_under_a_batch_is_told_with_its_sum():
    lesson, quiz, forward = asked("matmul", "X: [B, N, D], W: [D, H]", "Y = X @ W", ":of: dW")

    assert "(X.T @ dY).sum((0,))" in mark_quiz(quiz, "X.T @ dY", infer_shapes(forward), forward).message
    assert right_answers(lesson)["q"] == "`X.T @ dY`"


@pytest.mark.parametrize(
    ("kind", "options", "why"),
    [
        ("axes", ":of: db\n:from: dW", "No sum over axes of `dW` gives the numbers of `db`."),
        ("matmul", ":of: db", "No product of two tensors of this program"),
    ],
)
def test_a_question_without_a_right_answer_is_told_why(kind, options, why):
    lesson, quiz, _ = asked(kind, "X: [N, D], W: [D, H], b: [H]", "Y = X @ W + b", options)

    (found,) = prove_quiz(lesson, quiz, {"f": Facts(shapes={}, gradable=())})

    assert found.code == "no-right-answer"
    assert found.message.startswith(why)


@pytest.mark.parametrize(("sizes", "codes"), [("[N, D], W: [D, H]", []), ("[N, N], W: [N, N]", ["ambiguous-answer"])])
def test_shapes_decide_a_product_of_an_unreadable_program_if_they_can(sizes, codes):
    lesson, quiz, forward = asked("matmul", f"X: {sizes}", "Z = torch.special.airy_ai(X)\nY = Z @ W", ":of: dW")
    shapes = {"X": (4, 3), "W": (3, 5), "Z": (4, 3), "Y": (4, 5)} if not codes else dict.fromkeys("XWZY", (4, 4))

    findings = prove_quiz(lesson, quiz, {"f": Facts(shapes=shapes, gradable=())})

    assert [finding.code for finding in findings] == codes
    assert mark_quiz(quiz, "Z.T @ dY", shapes, forward).correct


def test_a_program_that_cannot_be_read_is_judged_by_its_shapes():
    inputs = "X: [N, D], b: [D]"

    assert right_choices(inputs, "U = X + b\nY = torch.special.airy_ai(U)", "db", "dU") == ["0"]
