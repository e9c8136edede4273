"""A picture of which a page would show the caption alone is told before anybody opens the page."""

import pytest

from app.cli.proving import codes_of, undrawn
from app.course.parse import parse_lesson
from tests.courses import ARCHITECTURES, LESSONS, course_in

TEXT = """---
title: A
id: a
estimate: 1 min
---

```{{forward}} linear
:dims: {{N: 8, D: 5, H: 3}}
:inputs: {{X: [N, D], W: [D, H], b: [H]}}
:output: Y
P = X @ W
Y = P + b
```

:::{{visual}} v
:kind: {kind}
:forward: linear
:of: {of}

A picture.
:::
"""


@pytest.mark.parametrize(
    ("kind", "of", "needs"),
    [("broadcast", "b", ""), ("broadcast", "W", "along an axis"), ("cells", "W", "at most 4 rows and columns")],
)
def test_a_picture_that_does_not_come_of_its_tensor_is_told(kind: str, of: str, needs: str) -> None:
    lesson, errors = parse_lesson(TEXT.format(kind=kind, of=of), "01-a.md")
    assert lesson is not None, errors

    found = undrawn(lesson)

    assert [one.code for one in found] == (["not-drawn"] if needs else [])
    assert all(needs in one.message for one in found)


def test_progress_counts_all_that_is_judged_of_a_box_and_no_question() -> None:
    exercises = course_in(ARCHITECTURES).lessons[0].exercises

    counts = {type(one).__name__: (codes_of(one, mutate=False), codes_of(one, mutate=True)) for one in exercises}

    assert counts["Grad"][1] > counts["Grad"][0] >= 2
    assert counts["ShapeQuestion"] == (0, 0)


@pytest.mark.parametrize("folder", [LESSONS, ARCHITECTURES], ids=["course", "architectures"])
def test_every_picture_of_the_course_is_drawn(folder) -> None:
    assert [one for lesson in course_in(folder).lessons for one in undrawn(lesson)] == []
