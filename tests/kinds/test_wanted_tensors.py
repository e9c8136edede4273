"""A product is asked about every tensor of its program, however much of it the source alone tells."""

import pytest

from app.course.parse import parse_lesson
from app.grading.quiz.feedback import shapes_offered
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.matmul.mark import operands_offered
from app.kinds.registry import mark_quiz, quiz_kind

HEAD = """---
title: Attention
id: attention
estimate: 1 min
---

```{{forward}} head
:dims: {{B: 2, T: 5, D: 3}}
:inputs: {{Q: [B, T, D], K: [B, T, D], V: [B, T, D], keep: "[B, T, T] causal"}}
:output: O
S = Q @ K.transpose(1, 2)
M = S.masked_fill(~keep, {mask})
P = torch.softmax(M, 2)
O = P @ V
```

:::{{matmul}} dv
:forward: head
:of: dV

Which product gives `dV`?
:::
"""
RAN = dict.fromkeys("SMP", (2, 5, 5)) | dict.fromkeys("QKVO", (2, 5, 3)) | {"keep": (2, 5, 5)}


def attention(mask):
    lesson, errors = parse_lesson(HEAD.format(mask=mask), "attention.md")
    assert lesson is not None, errors
    (quiz,) = lesson.exercises
    assert isinstance(quiz, MatmulQuestion)
    return lesson, quiz, lesson.forward("head")


@pytest.mark.parametrize("mask", ['float("-inf")', "torch.finfo(torch.float32).min", "-1e9"])
def test_every_operand_is_offered_whatever_line_cannot_be_read(mask):
    _, quiz, forward = attention(mask)

    shapes = shapes_offered(infer_shapes(forward), RAN, quiz_kind(quiz).tensors(quiz, forward))

    assert [one.name for one in operands_offered(quiz, shapes, forward)] == ["dO", "P", "V"]
    assert mark_quiz(quiz, "P.T @ dO", shapes, forward).correct


def test_a_minus_infinity_needs_no_run():
    _, quiz, forward = attention('float("-inf")')

    assert infer_shapes(forward).keys() >= set(quiz_kind(quiz).tensors(quiz, forward))


def test_a_tensor_whose_shape_is_not_known_is_not_called_unknown():
    _, quiz, forward = attention("torch.finfo(torch.float32).min")

    feedback = mark_quiz(quiz, "P.T @ dO", infer_shapes(forward), forward)

    assert feedback.correct is None
    assert "the graders cannot be reached" in feedback.message
    assert "no tensor" not in feedback.message
