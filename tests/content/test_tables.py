"""Data of a lesson's own: read from a file beside it, and what is told where they do not fit."""

import pytest

from app.content.blocks import Table, Train
from app.course.parse import parse_lesson

PAGE = """---
title: T
id: t
estimate: 1 min
---

```{{forward}} line
:dims: {{n: 8, k: 2, V: 3}}
:inputs: {{{inputs}}}
:output: loss
p = X {reads} @ w + b
loss = ((p - y) ** 2).mean()
```

:::{{grad}} box
:forward: line
:require: dw db

Write it.

```{{solution}}
dp = 2 * (p - y) / n
dw = X.T @ dp
db = dp.sum()
```
:::

:::{{train}} fit
:forward: line
:uses: box
{options}
:presets: {{short: {{steps: 50}}}}

Fit a line.
:::
"""
REAL = "X: [n, k], y: [n], w: [k], b: []"
ROWS = "\n".join(f"{at / 10},{at % 3},{at / 5 - at % 3 + 1}" for at in range(30))


def read(files, options=":data: points.csv\n:reads: X y", inputs=REAL, reads=""):
    return parse_lesson(PAGE.format(inputs=inputs, options=options, reads=reads), "1-a/01-t.md", beside=files.get)


def table_in(files, **changed) -> Table:
    lesson, errors = read(files, **changed)
    assert lesson is not None, [str(one) for one in errors]
    (train,) = (one for one in lesson.exercises if isinstance(one, Train))
    assert train.table is not None
    assert train.logits == ""
    return train.table


@pytest.mark.parametrize("head", ["", "a,b,target\n"])
def test_a_table_has_its_targets_in_the_last_column(head):
    table = table_in({"points.csv": head + ROWS})

    assert (len(table.contexts), table.contexts[4], table.targets[4]) == (30, (0.4, 1.0), 0.8 - 1 + 1)
    assert (table.whole, table.classes) == (False, False)


def test_targets_may_be_classes():
    rows = "\n".join(f"{at},{at},{at % 3}" for at in range(30))

    assert table_in({"points.csv": rows}, inputs=REAL.replace("y: [n]", 'y: "[n] ints(V)"')).classes


def test_a_text_is_read_character_by_character():
    inputs = 'X: "[n, k] ints(V)", y: "[n] ints(V)", w: [k], b: []'

    table = table_in({"a.txt": "abc" * 10}, options=":data: a.txt\n:reads: X y", inputs=inputs, reads=".float()")

    assert table.contexts[:2] == ((0.0, 1.0), (1.0, 2.0))
    assert table.targets[:3] == (2.0, 0.0, 1.0)
    assert table.whole


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "There is no data file 'points.csv' beside this lesson."),
        ("1,2,3\n4,5\n" + ROWS, "row 2 has 2 numbers; it needs 2 and, last, its target."),
        (ROWS + "\n1,two,3", "line 31 holds something that is no number: '1,two,3'."),
        ("1,2,3\n" * 5, "it has 5 rows; a run needs 20 at least"),
        ("1,2,3\n" * 9_000, "20,000 numbers at most"),
        (ROWS + "\n1,nan,3", "it holds a number that is not finite."),
    ],
)
def test_data_that_do_not_fit_are_told(rows, said):
    _, (error,) = read({} if rows is None else {"points.csv": rows})

    assert said in error.message
    assert error.place.line == 31


def test_a_class_beyond_the_last_is_told():
    _, (error,) = read({"points.csv": ROWS}, inputs=REAL.replace("y: [n]", 'y: "[n] ints(V)"'))

    assert "is no whole number below 3, as 'y' has them." in error.message


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (":data: points.csv", "missing-option"),
        (":data: points.csv\n:reads: X q", "unknown-tensor"),
        (":data: points.csv\n:reads: y X", "wrong-inputs"),
    ],
)
def test_the_inputs_of_a_batch_are_named(options, code):
    _, errors = read({"points.csv": ROWS}, options=options)

    assert code in {one.code for one in errors}
