"""What is no fault and seldom meant is warned of, and of nothing else."""

import pytest

from app.course.lint_lessons import prove_care
from app.course.parse import parse_lesson
from tests.courses import ARCHITECTURES, LESSONS, course_in

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
    ("unused", "w: [D]}", "w: [D], c: [N]}"),
    ("no-feedback", "  > Because.\n", ""),
    ("all-right", "- [ ] that\n  > Because.", "- [x] that"),
    ("empty-section", "::::{grad}", "## Empty\n\n## Writing\n\n::::{grad}"),
    ("empty-section", "  > Because.\n:::", "  > Because.\n:::\n\n## The end"),
    ("starter-lacks", ":::{hint}", "```{starter}\ndx = ____\n```\n\n:::{hint}"),
    ("given-away", "Which axis was copied?", "`dw = (dy * x).sum(0)`, and `dx = dy * w`."),
    ("given-away", "Which axis was copied?", "Begin with `dx = dy * w`."),
    ("no-blank", ":::{hint}", "```{starter}\ndx = ...\ndw = ____\n```\n\n:::{hint}"),
    ("no-blank", ":::{hint}", "```{starter}\ndx = None\ndw = ____\n```\n\n:::{hint}"),
    ("note-to-self", "Write them.", "Write them. FIXME: say which."),
    ("pinned", "D: 3}", "D: 3}\n:hidden: {N: 4, D: 3}"),
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


def test_dims_that_nothing_reads_are_told_in_one_warning():
    many = ", ".join(f"Q{number}: {number + 5}" for number in range(9))

    assert codes(TEXT.replace("D: 3", f"D: 3, {many}", 1)) == ["unused"]


def test_an_output_besides_the_first_is_read_by_nobody_and_yet_used():
    assert codes(TEXT.replace(":output: y", ":output: y, z").replace("y = x * w", "y = x * w\nz = x + w")) == []


@pytest.mark.parametrize("folder", [LESSONS, ARCHITECTURES], ids=["course", "architectures"])
def test_the_course_takes_care(folder):
    assert [one for lesson in course_in(folder).lessons for one in prove_care(lesson)] == []
