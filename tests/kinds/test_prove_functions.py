"""Which mutants of a function are asked of its cases."""

from app.check.mutants import mutants_of
from app.content.blocks import FunctionBox
from app.course.parse import parse_lesson
from app.kinds.program.prove import _changes_learner_line

LESSON = """---
title: Draws
id: draws
estimate: 1 min
---

::::{program} slope
:function: slope(f, x)

Measure.

```{case} A line.
f = lambda x: 3 * x
x = torch.ones(2)
```

```{solution}
def slope(f, x):
    way = torch.randn(x.shape)
    return (f(x + way) - f(x)) / way
```
::::
"""


def test_the_other_sign_of_a_normal_draw_is_no_mistake() -> None:
    lesson, _ = parse_lesson(LESSON, "01-draws.md")
    assert lesson is not None
    box = lesson.exercises[0]
    assert isinstance(box, FunctionBox)

    mutants = mutants_of(box.solution.source, frozenset())
    asked = [one.code for one in mutants if _changes_learner_line(box, one)]

    assert any("-torch.randn" in one.code for one in mutants)
    assert asked
    assert not any("-torch.randn" in one for one in asked)


CONTINUED = """---
title: Continued
id: continued
estimate: 1 min
---

::::{program} half
:function: half(x)

Halve it.

```{case} Two.
x = 2.0
```

```{solution}
def half(x):
    return x / 2
```
::::

::::{program} quarter
:function: quarter(x)
:after: half

Halve it twice.

```{case} Two.
x = 2.0
```

```{solution}
def quarter(x):
    return half(x) / 2
```
::::
"""


def test_what_stands_above_is_proved_where_it_was_written() -> None:
    lesson, errors = parse_lesson(CONTINUED, "01-continued.md")
    assert lesson is not None, errors
    box = lesson.exercises[1]
    assert isinstance(box, FunctionBox)

    asked = [one.code for one in mutants_of(box.solution.source, frozenset()) if _changes_learner_line(box, one)]

    assert asked
    assert all("return x / 2" in one for one in asked)
