"""What is no fault and seldom meant is warned of, and of nothing else."""

import pytest

from app.check.prove_care import prove_care
from app.content.parse import parse_lesson
from tests.courses import LESSONS, course_in

TEXT = """---
title: Care
id: care
estimate: 1 min
---

```{forward} f
:dims: {N: 4, D: 3}
:inputs: {x: [N, D], w: [D]}
:output: y
y = x * w
```

::::{grad} box
:forward: f
:require: dx dw

Write them.

:::{hint}
Which axis was copied?
:::

```{solution}
dx = dy * w
dw = (dy * x).sum(0)
```
::::

:::{choice} pick
Which?

- [x] this
- [ ] that
  > Because.
:::
"""
SLIPS = [
    ("equal-dims", "D: 3", "D: 4"),
    ("unused", "D: 3", "D: 3, Q: 5"),
    ("unused", "y = x * w", "y = x * w\nz = y * 2"),
    ("no-feedback", "  > Because.\n", ""),
    ("all-right", "- [ ] that\n  > Because.", "- [x] that"),
    ("given-away", "Which axis was copied?", "`dw = (dy * x).sum(0)`, and `dx = dy * w`."),
]


def codes(text: str) -> list[str]:
    lesson, errors = parse_lesson(text, "1-unit/01-care.md")
    assert lesson is not None, errors
    found = prove_care(lesson)
    assert all(one.level == "warning" for one in found)
    return [one.code for one in found]


@pytest.mark.parametrize(("code", "before", "after"), SLIPS)
def test_a_slip_of_care_is_warned_of(code, before, after):
    assert codes(TEXT) == []
    assert codes(TEXT.replace(before, after, 1)) == [code]


def test_the_course_takes_care():
    assert [one for lesson in course_in(LESSONS).lessons for one in prove_care(lesson)] == []
