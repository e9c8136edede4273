"""`:vary:`: a question with other numbers in each draw, of which the same holds as of any question."""

import pytest

from app.content.blocks import Lesson
from app.content.directives.vary import MAX_DRAWS
from app.course.parse import parse_lesson

PROGRAM = """```{forward} linear
:dims: {N: 32, D: 100, H: 27, E: N * D, K: E / 10}
:inputs: {X: [N, D], W: [D, H], e: [E], k: [K]}
:output: Y
Y = (X @ W) * (e.sum() + k.sum())
```

"""
SPREAD = """::::{number} spread
:vary: {n: 20..60}
:answer: 1/(n-1)

What is the weight of one of {{n}} numbers?

- `1/n`: That is $1/{{n}}$.

:::{hint}
One less than {{n}}.
:::
::::
"""


def read(text: str) -> tuple[Lesson | None, list[str]]:
    lesson, errors = parse_lesson(PROGRAM + text, "01-x.md", piece=True)
    return lesson, [str(one) for one in errors]


def question(text: str):
    lesson, errors = read(text)
    assert lesson is not None, errors
    return lesson.exercises[0]


def test_a_question_is_read_for_each_draw_with_numbers_in_every_text():
    quiz = question(SPREAD)
    numbers = [one.numbers["n"] for one in quiz.draws]

    assert len(set(numbers)) == len(numbers) > 30
    for draw in quiz.draws:
        n = draw.numbers["n"]
        assert f"one of {n} numbers" in draw.prompt
        assert f"1/{n}" in draw.tempting[0].html
        assert f"less than {n}" in draw.hints[0].html
        assert draw.given == {"n": int(n)}


def test_a_text_has_the_same_draws_and_its_question_is_the_first():
    quiz = question(SPREAD)

    assert [one.numbers for one in quiz.draws] == [one.numbers for one in question(SPREAD).draws]
    assert [one.draw for one in quiz.draws] == list(range(len(quiz.draws)))
    assert (quiz.prompt, quiz.numbers) == (quiz.draws[0].prompt, quiz.draws[0].numbers)


def test_there_are_no_more_draws_than_are_proved():
    assert len(question(SPREAD.replace("20..60", "20..600")).draws) == MAX_DRAWS


def test_dims_vary_with_what_follows_and_show_where_the_text_is_silent():
    quiz = question(":::{shape} a\n:forward: linear\n:of: W\n:vary: {D: [40, 50]}\n\nWhich?\n\n- `{{D}}`: No.\n:::\n")
    lesson, _ = read(":::{shape} a\n:forward: linear\n:of: W\n:vary: {D: [40, 50]}\n\nWhich?\n:::\n")

    assert {one.numbers["D"] for one in quiz.draws} == {"40", "50"}
    for draw in quiz.draws:
        size = int(draw.numbers["D"])
        assert lesson.forward(draw.forward).dims == {"N": 32, "D": size, "H": 27, "E": 32 * size, "K": 32 * size / 10}
        assert f'<code class="together">D = {size}</code>' in draw.prompt


def test_numbers_follow_from_earlier_ones_and_are_what_is_shown():
    quiz = question(":::{number} a\n:vary: {n: 3..9, m: n+1..12, p: 1/n}\n:answer: p * m\n\n{{n}} {{m}}\n:::\n")

    for draw in quiz.draws:
        assert int(draw.numbers["n"]) < int(draw.numbers["m"]) <= 12
        assert draw.given["p"] == float(draw.numbers["p"])
        assert f"p = {draw.numbers['p']}" in draw.prompt


def test_options_of_a_choice_are_sums():
    quiz = question(":::{choice} a\n:vary: {n: 3..9}\n\nIn {{n}} pairs?\n\n- [x] {{2*n}}\n- [ ] {{n + 1}}\n:::\n")

    for draw in quiz.draws:
        n = int(draw.numbers["n"])
        assert [one.html for one in draw.options] == [str(2 * n), str(n + 1)]


@pytest.mark.parametrize(
    ("vary", "line", "said", "fix"),
    [
        ("{n: 9..3}", 9, "The range 9..3 is empty: 9 is above 3.", ":vary: {n: 20..60}"),
        ("{n: 0.5..3}", 9, "0.5 is 0.5, which is not a whole number", ":vary: {n: 20..60}"),
        ("{n: q..9}", 9, "The name 'q' is not known here", ":vary: {n: 20..60}"),
        ("{n: []}", 9, "A list holds numbers.", ":vary: {n: 20..60}"),
        ("{n: 7}", 9, "always draws the same numbers", ":vary: {n: 20..60}"),
        ("{}", 9, "':vary:' is empty", ":vary: {n: 20..60}"),
        ("{2n: 3..4}", 9, "'2n' cannot name a number", ""),
        ("n 3..4", 9, "':vary:' is a mapping", ""),
        ("{n: 3..9, N: 0..4}\n:forward: linear", 9, "0 is no size", "Draw whole numbers from 1 to 100000."),
        ("{n: 3..9, N: [2.5, 3]}\n:forward: linear", 9, "2.5 is no size", "from 1 to"),
        ("{n: 3..9, E: 3..4}\n:forward: linear", 9, "'E' follows from other dims of 'linear': N * D.", "N, D, H"),
        ("{n: 3..9, D: [3, 7]}\n:forward: linear", 10, "'K' of 'linear' has no size. E / 10 is", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_told_with_its_line_and_what_to_write(vary, line, said, fix):
    of = "shape" if "linear" in vary else "number"
    rest = ":of: X\n" if of == "shape" else ":answer: 3\n"

    _, errors = read(f":::{{{of}}} a\n:vary: {vary}\n{rest}\nWhich of {{{{n}}}}?\n:::\n")

    assert any(f":{line}:" in one and said in one and fix in one for one in errors), errors


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("one of {{n}} numbers", "one of {{m}} numbers", 12, "'{{m}}' has no value. The name 'm' is not known here."),
        ("`1/n`", "`1/(n - 1)`", 14, "counts as right. (Drawn were n = "),
        (":answer: 1/(n-1)", ":answer: 1/(n-1)\n:with: {n: 3}", 11, "'n' is drawn by ':vary:'. (Drawn were n = "),
        (":answer: 1/(n-1)", ":answer: 1/(n-31)", 10, "That divides by zero. (Drawn were n = 31.)"),
    ],
)  # fmt: skip
def test_a_fault_in_one_draw_is_told_once_with_its_numbers(before, after, line, said):
    _, errors = read(SPREAD.replace(before, after))

    assert len(errors) == 1
    assert f":{line}:" in errors[0]
    assert said in errors[0]


def test_two_options_that_are_equal_in_one_draw_are_told():
    _, errors = read(":::{choice} a\n:vary: {n: 1..9}\n\nOf {{n}}?\n\n- [x] {{2*n}}\n- [ ] {{n + 1}}\n:::\n")

    assert ["This option stands above already. (Drawn were n = 1.)" in one for one in errors] == [True]
