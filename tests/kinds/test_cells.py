"""Entries of a small table: derived from the program, read generously, and the first wrong one is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import Lesson
from app.content.text.mathml import words_of
from app.course.parse import parse_lesson
from app.kinds.cells.block import CellsQuestion
from app.kinds.cells.mark import answer_of, names_of, right_values
from app.kinds.registry import mark_quiz, quiz_kind, right_answers

TEXT = """---
title: Cells
id: cells
estimate: 1 min
---

```{forward} small
:inputs: {A: [2, 2], B: [2, 2]}
:output: O
O = A @ B
```

```{forward} many
:inputs: {x: [2, 3], b: [3]}
:output: L
added = x + b
summed = x.cumsum(1)
soft = torch.softmax(x, 1)
turned = x.T
picked = x.max(1).values
L = (added * summed * soft).sum() + turned.sum() + picked.sum()
```

:::{cells} da
:forward: small
:of: dA
:at: {A: [[1, 2], [3, 4]], B: [[5, 6], [7, 8]], dO: [[1, -1], [2, 3]]}

Fill in.

- `11, 15, 11, 15`: Those are the rows of B, added.
:::

:::{cells} fed
:forward: small
:of: O
:feeds: A[0, 1]

Tick.

- `0, 1, 2, 3`: Nothing of the second row.
:::
"""


def read(text: str = TEXT) -> Lesson:
    lesson, errors = parse_lesson(text, "01-cells.md")
    assert lesson is not None, [str(error) for error in errors]
    return lesson


LESSON = read()


def answered(name: str, *values: str):
    quiz = LESSON.exercise(name)
    assert isinstance(quiz, CellsQuestion)
    return mark_quiz(quiz, values, {}, LESSON.forward(quiz.forward))


@pytest.mark.parametrize(
    "values",
    [
        ("-1", "-1", "28", "38"),
        ("−1", "-1.0", "56/2", " 38 "),
        ("-1, -1, 28, 38",),
        ("[[-1, -1], [28, 38]]", "", "", ""),
        ("tensor([[-1., -1.], [28., 38.]])", "", "", ""),
        ("-1 -1 28 38", "", "", ""),
        ("-1\t-1\n28\t38", "", "", ""),
    ],
)
def test_a_table_is_right_entry_by_entry(values):
    assert answered("da", *values).correct is True


@pytest.mark.parametrize(
    ("quiz", "values", "correct", "said"),
    [
        (
            "da",
            ("-1", "-1", "28", "3"),
            False,
            '3 of 4 are right. Look at <code class="together">dA[1, 1]</code> first.',
        ),
        ("da", ("1", "2", "3", "4"), False, '0 of 4 are right. Look at <code class="together">dA[0, 0]</code> first.'),
        ("da", ("11", "15", "11", "15"), False, "Those are the rows of B, added."),
        ("da", ("-1", "", "28", "38"), None, "1 cell is still empty."),
        (
            "da",
            ("-1", "?", "28", "38"),
            None,
            '<code class="together">dA[0, 1]</code>: This cannot be read as a number.',
        ),
        ("da", (), None, "4 cells are still empty."),
        (
            "fed",
            ("0", "1"),
            True,
            '<code class="together">A[0, 1]</code> feeds 2 entries of <code>O</code>, and no other.',
        ),
        ("fed", ("0",), False, "It is not the only one."),
        (
            "fed",
            ("0", "2"),
            False,
            '<code class="together">O[1, 0]</code> stays as it is when <code class="together">A[0, 1]</code> changes.',
        ),
        ("fed", ("0", "1", "2", "3"), False, "Nothing of the second row."),
        ("fed", (), None, "Tick every cell that changes."),
    ],
)
def test_an_answer_is_judged_cell_by_cell_and_told(quiz, values, correct, said):
    feedback = answered(quiz, *values)

    assert feedback.correct is correct
    assert said in feedback.message


@pytest.mark.parametrize(
    ("of", "entry", "fed"),
    [
        ("added", "b[1]", ["added[0, 1]", "added[1, 1]"]),
        ("added", "x[0, 1]", ["added[0, 1]"]),
        ("summed", "x[1, 1]", ["summed[1, 1]", "summed[1, 2]"]),
        ("soft", "x[1, 0]", ["soft[1, 0]", "soft[1, 1]", "soft[1, 2]"]),
        ("turned", "x[0, 2]", ["turned[2, 0]"]),
    ],
)
def test_what_an_entry_feeds_follows_from_the_program(of, entry, fed):
    quiz = read(TEXT + f"\n:::{{cells}} q\n:forward: many\n:of: {of}\n:feeds: {entry}\n\nTick.\n:::\n").exercise("q")
    assert isinstance(quiz, CellsQuestion)

    answer = answer_of(quiz, LESSON.forward("many"))

    assert answer is not None
    names = names_of(quiz, answer.shape)
    assert [names[int(one)] for one in right_values(quiz, answer)] == fed


def test_the_right_answers_of_an_export():
    assert right_answers(LESSON) == {"da": "`[[-1.0, -1.0], [28.0, 38.0]]`", "fed": "`O[0, 0]` and `O[0, 1]`"}


def test_a_program_that_cannot_be_walked_marks_nothing():
    lesson = read(TEXT.replace("O = A @ B", "O = torch.linalg.solve(A, B)"))
    quiz = lesson.exercise("da")
    assert isinstance(quiz, CellsQuestion)

    feedback = mark_quiz(quiz, ["1", "2", "3", "4"], {}, lesson.forward("small"))

    assert feedback.correct is None


@given(st.sampled_from(["da", "fed"]), st.lists(st.text(max_size=5), max_size=9))
def test_any_texts_are_an_answer(name, values):
    assert answered(name, *values).message


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("-2 -2 31 36", "That is dO @ B, without the transpose."),
        ("17 13 23 17", "That is B @ dO. The upstream gradient takes the place of the output"),
        ("5 -6 14 24", "That is dO * B, entry by entry."),
        ("5 -7 12 24", "That is dO * B.T, entry by entry."),
        ("1 -1 2 3", "That is dO, the upstream gradient."),
        ("5 6 7 8", "That is B, the other factor."),
        ("-1 28 -1 38", "The numbers are right, and rows and columns are exchanged."),
        ("1 1 -28 -38", "Every entry has the opposite sign."),
        ("9 9 9 9", "0 of 4 are right."),
    ],
)
def test_a_table_that_is_another_product_is_told_which(numbers, said):
    feedback = answered("da", *numbers.split())

    assert feedback.correct is False
    assert said in words_of(feedback.message)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("fed", ("2",), "entry 2, from 0, of O"),
        ("fed", ("0", "3"), "entries 0 and 3, from 0, of O"),
        ("fed", (), "no entry of O"),
        ("da", ("1", "2", "3", "4"), "1, 2, 3, 4"),
    ],
)
def test_an_answer_is_told_by_the_entries_that_were_ticked(name, given, words):
    quiz = LESSON.exercise(name)

    assert words_of(quiz_kind(quiz).words(quiz, given)) == words


def test_an_answer_is_listed_as_a_tempting_value_that_is_marked_as_it():
    listed = quiz_kind(LESSON.exercise("fed")).listed(["0", "1", "2", "3"])

    assert listed == "0, 1, 2, 3"
    assert "Nothing of the second row." in answered("fed", *listed.split(", ")).message
