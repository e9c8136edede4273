"""Lesson files become frozen values, or every fault at its exact place."""

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import Bug, Callout, Checker, Forward, Grad, Lesson, Prose, Visual
from app.content.text.mathml import words_of
from app.course.directives import OPTIONS
from app.course.parse import parse_lesson
from app.kinds.axes.block import AxesQuestion
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.number.block import NumberQuestion
from app.kinds.shape.block import ShapeQuestion

FIXTURES = Path(__file__).parent / "fixtures"
GOOD = sorted((FIXTURES / "good").glob("*.md"))
BAD = sorted((FIXTURES / "bad").glob("*.md"))


def lesson(name: str) -> Lesson:
    read, errors = parse_lesson((FIXTURES / "good" / name).read_text(), name)
    assert read is not None, errors
    return read


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_lesson_has_no_errors(path):
    read, errors = parse_lesson(path.read_text(), path.name)

    assert errors == ()
    assert read is not None


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_every_fault_is_told_at_its_place_with_what_to_write(path):
    read, errors = parse_lesson(path.read_text(), path.name)

    assert [str(error) for error in errors] == path.with_suffix(".txt").read_text().splitlines()
    assert read is None


SHEET = """---
title: Sheets
id: sheets
estimate: 1 min
---

```{forward} linear
:dims: {N: 32, D: 100}
:inputs: {X: [N, D], W: [D, 27]}
:output: Y
Y = X @ W
```

```{forward} other
:inputs: {W: [3]}
:output: y
y = W * 2
```

::::{sheet} shapes
:forward: linear

Which?

:::{shape} inherits
:of: W

One.
:::

:::{shape} names-its-own
:forward: other
:of: W

Two.
:::

:::{number} takes-none
:answer: 3

Three.
:::
::::

See [a row](#takes-none).
"""


def test_rows_of_a_sheet_are_exercises_that_take_its_program():
    read, errors = parse_lesson(SHEET, "01-sheets.md")

    assert errors == ()
    assert read is not None
    assert [one.name for one in read.exercises] == ["inherits", "names-its-own", "takes-none"]
    assert [one.forward for one in read.exercises] == ["linear", "other", None]
    assert read.tasks == (("inherits", "names-its-own", "takes-none"),)


def test_blocks_stand_in_file_order():
    kinds = [type(block) for block in lesson("07-linear-layer.md").blocks]

    assert kinds == [Prose, Forward, ShapeQuestion, NumberQuestion, ChoiceQuestion, AxesQuestion, MatmulQuestion, Grad]


def test_a_forward_program_knows_its_line_dims_and_inputs():
    forward = lesson("08-everything.md").forward("table")

    assert forward is not None
    assert (forward.dims, forward.output, forward.show) == ({"V": 27, "D": 10, "B": 32, "T": 3}, "y", False)
    lines = (FIXTURES / "good" / "08-everything.md").read_text().splitlines()
    assert lines[forward.source_line - 1] == "e = C[ix]"
    drawn = [(one.name, one.sizes, one.distribution, one.bound) for one in forward.inputs]
    assert drawn == [
        ("C", ("V", "D"), "randn", None),
        ("ix", ("B", "T"), "ints", "V"),
        ("w", ("T*D",), "positive", None),
        ("q", ("B", "V"), "onehot", None),
        ("s", (), "randn", None),
    ]


def test_a_code_box_carries_everything_that_was_written():
    box = cast(Grad, lesson("08-everything.md").exercise("indexed"))

    assert (box.require, box.given, box.grade, box.rtol, box.forbid) == (
        ("de", "dC"),
        ("df",),
        "value",
        1e-4,
        ("loops",),
    )
    assert (box.seconds, box.reveal) == (0.5, "after:3")
    assert box.starter.source == "de = ____\ndC = ____\n"
    assert box.solution.source.startswith("de = df.view(B, T, D)\n")
    assert [code.source.startswith("de = df.reshape") for code in box.alternatives] == [True]
    assert box.mistakes[0].message == "Rows that repeat get *all* their shares: `dC[ix] += de` keeps one."
    assert '<code class="together">dC[ix] += de</code>' in box.mistakes[0].html


AFTER = """---
title: After
id: after
estimate: 1 min
---

```{forward} f
:inputs: {x: [3], w: [3]}
:output: y
u = x * w
y = torch.tanh(u)
```

::::{grad} box
:forward: f
:require: du dx

Write them.

```{mistake} The factor is the other one.
:after: du
dx = du * x
```

```{solution}
du = 1 - y ** 2
du *= dy
dx = du * w
```
::::
"""


def test_a_mistake_goes_on_where_the_solution_has_written_a_name():
    read, errors = parse_lesson(AFTER, "01-after.md")

    assert read is not None, errors
    (mistake,) = cast(Grad, read.exercise("box")).mistakes
    assert mistake.code.source == "du = 1 - y ** 2\ndu *= dy\ndx = du * x\n"
    assert AFTER.split("\n")[mistake.code.line + 1] == "dx = du * x"


def test_the_lines_of_code_are_those_of_the_file():
    read = lesson("08-everything.md")
    lines = (FIXTURES / "good" / "08-everything.md").read_text().splitlines()
    boxes = [block for block in read.blocks if isinstance(block, Grad)]

    for code in [
        code for box in boxes for code in (box.solution, *box.alternatives, *(one.code for one in box.mistakes))
    ]:
        assert lines[code.line - 1] == code.source.splitlines()[0]


def test_a_choice_splits_boxes_texts_and_feedback():
    choice = cast(ChoiceQuestion, lesson("08-everything.md").exercise("several"))

    assert [option.right for option in choice.options] == [True, False, True]
    assert choice.multiple
    assert choice.options[1].feedback == "<p>No: <code>b</code> is <em>not</em>.</p>\n<p>Not at all.</p>"
    assert choice.options[1].html == "<p><code>b</code></p>"
    assert "[x]" not in "".join(option.html for option in choice.options)
    assert "Which hold?" in choice.prompt
    assert "a list in a hint" in choice.hints[0].html


def test_a_bug_knows_its_wrong_line_and_the_whole_mended():
    bug = cast(Bug, lesson("09-boxes.md").exercise("silent-mean"))

    assert (bug.line, bug.end) == (2, 4)
    assert bug.starter.source == "dX = dY @ W.T\ndb = (\n    dY.mean(0)\n)\ndW = X.T @ dY\n"
    assert bug.solution.source == "dX = dY @ W.T\ndb = dY.sum(0)\ndW = X.T @ dY\n"
    assert (bug.require, bug.reveal, len(bug.hints)) == (("dX", "dW", "db"), "never", 1)


def test_a_bug_tells_wrong_mends_from_right_lines_that_are_suspected():
    bug = cast(Bug, lesson("09-boxes.md").exercise("suspects"))

    assert [(one.line, one.message) for one in bug.innocent] == [(1, "The zeros are right.")]
    assert [one.code.source for one in bug.mistakes] == ["dX = torch.zeros_like(X)\ndX -= dY @ W.T\n"]


@pytest.mark.parametrize(("name", "line"), [("suspects", 2), ("overwritten", 2), ("renamed", 1)])
def test_the_wrong_line_is_the_one_that_the_mend_replaces(name, line):
    bug = cast(Bug, lesson("09-boxes.md").exercise(name))

    assert (bug.line, bug.end) == (line, line)


def test_a_checker_has_cases_of_both_kinds():
    checker = cast(Checker, lesson("09-boxes.md").exercise("cmp"))

    assert (checker.function, checker.arguments, checker.seconds) == ("cmp", ("got", "reference"), 1.0)
    assert [(case.right, case.message) for case in checker.cases] == [
        (True, "equal up to rounding"),
        (False, "`NaN` is equal to nothing; your check accepts it."),
    ]
    assert checker.starter.source == "def cmp(got, reference):\n    ____\n"
    assert "torch.allclose" in checker.solution.source
    assert len(checker.alternatives) == 1


def test_former_ids_find_the_exercise():
    read = lesson("08-everything.md")

    assert read.exercise("some") is read.exercise("several")


def test_tempting_values_lose_their_colon():
    shape = cast(ShapeQuestion, lesson("07-linear-layer.md").exercise("dw-shape"))

    assert [(one.value, str(one.html)) for one in shape.tempting] == [
        ("32", "That is the batch axis; it is summed away in the product."),
        ("100", "That is the first number again."),
    ]


def test_pictures_and_callouts():
    blocks = lesson("08-everything.md").blocks

    forces = next(block for block in blocks if isinstance(block, Visual))
    titles = [block.title for block in blocks if isinstance(block, Callout)]
    assert forces.given == {"z": [2, 0.5, -1, 0, 1], "target": 3}
    assert titles == ["A title with `code`", ""]


def test_the_front_matter_is_read():
    read = lesson("08-everything.md")

    assert (read.title, read.name, read.estimate) == ("Everything at once: a tour", "everything", "1 h 10 min")
    assert (read.slug, read.requires, read.draft) == ("everything", ("linear-layer",), True)
    assert read.goals[0] == "read <code>dW</code> off the <em>shapes</em>"
    assert words_of(read.goals[1]) == r"know that \partial L/\partial b is a sum"


@pytest.mark.parametrize("name", [")", "(", "[", "*", "N+", "?", "\\"])
def test_a_dim_that_is_no_name_is_told(name):
    read, errors = parse_lesson(SHEET.replace("D: 100", f"'{name}': 100"), "01-sheets.md")

    assert read is None
    assert errors[0].place.line == 8


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_and_a_byte_order_mark_change_nothing(ending):
    text = (FIXTURES / "good" / "08-everything.md").read_text()

    read, errors = parse_lesson("\ufeff" + text.replace("\n", ending), "08-everything.md")

    assert errors == ()
    assert read == lesson("08-everything.md")


SNIPPETS = st.sampled_from(
    [
        "---\n",
        ":::",
        "::::",
        "```",
        "~~~",
        "{",
        "}",
        "\n",
        "\n\n",
        " ",
        "  ",
        "- [x] ",
        "- `",
        "`: ",
        "> ",
        "$$",
        "$",
        "|",
        "#",
    ]
    + [
        "title: t\n",
        "[^1]",
        "](",
        "[a](#b)",
        "1/0",
        "9**9",
        "&a *a",
        "dX = ",
        "((((",
        "\\",
        "\t",
        "\0",
        "é",
        "[",
        "]",
        "![",
    ]
    + [f"{fence}{{{name}}} " for name in OPTIONS for fence in (":::", "```")]
    + [f":{option}: " for options in OPTIONS.values() for option in options]
    + ["{N: 3}", "[N, D]", "linear", "dW", "Y = X @ W\n", "(100, ?)", "'", '"', "*", "_", "<b>", "|-|\n"]
    + ["²", "٣", "፩", "½", "9" * 5000]
)


@given(st.lists(SNIPPETS, max_size=40).map("".join))
def test_any_arrangement_of_the_format_gives_a_lesson_or_errors(text):
    read, errors = parse_lesson(text, "01-any.md")

    assert (read is None) == bool(errors)
    assert all(1 <= error.place.line <= text.count("\n") + 2 for error in errors)


@given(st.text())
def test_any_text_gives_a_lesson_or_errors(text):
    for prefix in ("", "---\ntitle: t\nid: t\nestimate: 1 min\n---\n", ":::{choice} a\n", "```{forward} f\n:inputs: "):
        read, errors = parse_lesson(prefix + text, "01-any.md")

        assert (read is None) == bool(errors)


@given(st.data())
def test_a_good_lesson_with_a_wound_never_crashes(data):
    text = GOOD[data.draw(st.integers(0, len(GOOD) - 1))].read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))

    read, errors = parse_lesson(text[:start] + data.draw(SNIPPETS) + text[end:], "01-any.md")

    assert (read is None) == bool(errors)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 5000,
        "{a: " * 3000,
        "&a [1, *a]",
        "!!python/object:os.system x",
        "\x00\x07",
        "{? a}",
        "{[a]: 1}",
        "- a\n- b",
        "9" * 9000,
    ],
)
@pytest.mark.parametrize("option", ["dims", "inputs"])
def test_hostile_values_are_errors(option, value):
    text = f"---\ntitle: t\nid: t\nestimate: 1 min\n---\n```{{forward}} f\n:{option}: {value}\n:output: y\ny = 1\n```\n"

    read, errors = parse_lesson(text, "01-any.md")

    assert read is None
    assert errors


@pytest.mark.parametrize("tolerance", ["rtol", "atol"])
def test_a_tolerance_below_zero_is_told_at_its_place(tolerance):
    text = "---\ntitle: A\nid: a\nestimate: 5 min\n---\n\n:::{number} half\n:answer: 0.5\n:%s: -1\n\nHow much?\n\n"
    text = text % tolerance + "- `2`: Upside down.\n:::\n"

    read, errors = parse_lesson(text, "a.md")

    assert read is None
    assert [str(one) for one in errors] == [f"a.md:9:8: wrong-value ':{tolerance}:' must be at least 0; it is -1."]


@pytest.mark.parametrize(("options", "count"), [("", "no option"), ("- [x] yes\n", "one option only")])
def test_a_choice_of_fewer_than_two_is_told_in_words(options, count):
    text = f"---\ntitle: A\nid: a\nestimate: 5 min\n---\n\n:::{{choice}} one\n\nWhich?\n\n{options}:::\n"

    _, errors = parse_lesson(text, "a.md")

    assert f"choice 'one' has {count}." in str(errors[0])


def test_what_stands_twice_at_the_top_is_told_in_a_sentence():
    _, errors = parse_lesson("---\ntitle: A\ntitle: B\nid: a\nestimate: 5 min\n---\n\nText.\n", "a.md")

    assert "'title' stands twice in the front matter." in str(errors[0])


def test_why_one_road_is_asked_stands_in_the_prompt():
    text = (FIXTURES / "good" / "07-linear-layer.md").read_text()
    why = "The next lesson puts these *steps* together."
    read, errors = parse_lesson(
        text.replace(":grade: rule\n", f":grade: rule\n:one-road: {why}\n"), "07-linear-layer.md"
    )
    assert read is not None, errors

    box = read.exercise("linear-backward")

    assert isinstance(box, Grad)
    assert box.one_road == why
    assert box.prompt.endswith("<p>The next lesson puts these <em>steps</em> together.</p>\n")
    assert box.prompt.startswith("<p>Write the backward pass of the layer.</p>")
