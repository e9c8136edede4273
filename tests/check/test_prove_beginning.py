"""The first box of a course: one blank, single numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.content.blocks import SourceLocation
from app.course.parse import parse_lesson
from app.course.prove_beginning import prove_beginning, prove_order_of
from tests.courses import course_in

COURSE = Path(__file__).resolve().parents[2] / "lessons"
LESSON = """---
title: {id}
id: {id}
estimate: 1 min
---

```{{forward}} gate
{options}
:output: y
y = 3 * x
```

:::{{grad}} box
:forward: gate
:require: dx

Write it.

```{{starter}}
{starter}
```

```{{solution}}
dx = 3 * dy
```
:::
"""
PLAIN, SIZED = ":inputs: {x: []}", ":dims: {N: 3}\n:inputs: {x: [N]}"


def lesson(name: str = "one", options: str = PLAIN, starter: str = "dx = ____"):
    read, errors = parse_lesson(LESSON.format(id=name, options=options, starter=starter), f"01-{name}.md")
    assert read is not None, [str(error) for error in errors]
    return read


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"starter": "dx = ____ * ____"}, "has 2 blanks."),
        ({"starter": "dx = 1"}, "has 0 blanks."),
        ({"options": SIZED}, "has the dims N."),
        ({"options": SIZED, "starter": "____\ndx = ____"}, "has 2 blanks and the dims N."),
    ],
)
def test_a_first_box_that_asks_for_too_much_is_warned_of(asked, told):
    (found,) = prove_beginning([lesson(**asked), lesson("later")])

    assert (found.level, found.code) == ("warning", "first-box")
    assert told in found.message


def test_boxes_after_the_first_may_ask_for_more():
    assert prove_beginning([lesson(), lesson("later", SIZED, "____\n____")]) == []


def test_a_course_without_boxes_has_no_first_one():
    assert prove_beginning([]) == []


def test_a_lesson_that_requires_a_later_one_is_warned_of():
    first, second = lesson(), lesson("later")
    first = replace(first, requires=("later",), requires_places=(SourceLocation("1-a/01-a.md", 5, 12),))

    assert [(one.code, one.place.line) for one in prove_order_of([first, second])] == [("later", 5)]
    assert prove_order_of([second, first]) == []


def test_the_course_begins_with_one_blank():
    assert prove_beginning(course_in(COURSE).lessons) == []
