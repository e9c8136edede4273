"""Every export is a sound file of its kind, and holds what the lesson holds."""

import ast
import json

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.content.blocks import Lesson, Prose
from app.content.export.python_code import as_block_body
from app.content.text.course_page import CoursePage
from app.course.export import NotebookCell, Work, cells_of, written_as
from app.course.parse import parse_lesson
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.number.block import NumberQuestion
from app.kinds.shape.block import ShapeQuestion
from tests.examples import examples
from tests.turns import EXPORTS

TOP = """---
title: Layers
id: layers
estimate: 5 min
goals:
  - say $Y = XW$ aloud
---

"""
QUIZ = """See [the matrix product](../2-tensors/07-matmul.md#dw) and [below](#undo), or `[x](y.md)`.

```text
[kept](as-it-is.md)
```

::::{choice} undo
What undoes a broadcast?

- [ ] another broadcast
  > That copies a second time.
- [x] a sum

  over the copies

:::{hint}
Count the copies.
:::
::::

:::{number} half
:answer: 1/2
:right: "Two halves: *one* whole."
How much?

- `2`: Upside down.
:::
"""


def markdown_of(text, **work):
    lesson, errors = parse_lesson(TOP + text, "1-unit/01-layers.md")
    assert errors == ()
    return written_as("md", cells_of(lesson, Work(**work)))


@pytest.mark.in_turn(turns=4, places=EXPORTS)
@pytest.mark.parametrize("part", range(4))
def test_every_notebook_is_valid_and_its_cells_have_ids(exports, part):
    notebooks = [text for name, text in exports.items() if name.endswith(".ipynb")]
    for text in notebooks[part::4]:
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids)
        assert json.loads(text)["nbformat_minor"] == 5


def test_every_script_is_python(exports):
    for name, text in exports.items():
        if name.endswith(".py"):
            ast.parse(text)


def test_an_answer_that_names_no_option_is_left_out():
    unanswered = markdown_of(QUIZ)

    assert markdown_of(QUIZ, answers={"undo": ("1",)}) != unanswered
    assert markdown_of(QUIZ, answers={"undo": ("1000",)}) == unanswered


def test_a_text_to_read_holds_no_helpers(exports):
    assert not [name for name, text in exports.items() if name.endswith(".md") and "backhand." in text]


def test_a_question_keeps_its_answer_folded_away():
    text = markdown_of(QUIZ)

    shown, folded = text.split("<details><summary>Answer</summary>", 1)
    assert "- (a) another broadcast\n- (b) a sum\n\n  over the copies" in shown
    assert "<summary>Hint</summary>\n\nCount the copies." in shown
    assert "(a) That copies a second time." in folded
    assert "**(b)**" in folded
    assert "That copies" not in shown
    assert "**`1/2` = 0.5**" in folded
    assert "- `2`: Upside down." in folded
    assert "Two halves: *one* whole." in folded
    assert "Two halves" not in shown


def test_what_is_to_be_predicted_stands_below_its_box():
    box = """```{forward} short
:inputs: {x: [4]}
:output: y
y = x ** 2
```

:::{grad} short-backward
:forward: short
:require: dx
:predict: Will `dx` be *red*?

Write it.

```{solution}
dx = 2 * x * dy
```
:::
"""

    assert "Write it.\n\nPredict first: Will dx be red?" in markdown_of(box)


KEEP = """```{forward} squash
:inputs: {x: [4], w: [4]}
:output: y
u = x * w
h = torch.tanh(u)
y = h ** 2
```

:::{keep} kept
:of: squash-backward

What has to wait?

- `u`: The tanh will do.
:::

:::{grad} squash-backward
:forward: squash
:require: dh du

Write it.

```{solution}
dh = 2 * h * dy
du = (1 - h ** 2) * dh
```
:::
"""


def test_options_that_are_derived_stand_below_their_question():
    shown, folded = markdown_of(KEEP).split("<details><summary>Answer</summary>", 1)

    assert "What has to wait?\n\n- (a) `u`\n- (b) `h`" in shown
    assert "The tanh will do." not in shown
    assert "**(b)**" in folded
    assert "(a) The tanh will do." in folded


def test_own_answers_stand_below_their_questions():
    text = markdown_of(QUIZ, answers={"undo": ("0", "1"), "half": ("0.4`\n# no heading",)})

    assert "Your answer: (a), (b)" in text
    assert "Your answer: `0.4' # no heading`" in text


def test_links_to_other_lessons_become_their_words():
    text = markdown_of(QUIZ)

    assert "See the matrix product and [below](#undo)" in text
    assert "[kept](as-it-is.md)" in text
    assert '<a id="undo"></a>' in text


def test_goals_and_title_come_first():
    assert markdown_of("Text.").startswith(
        "# Layers\n\nAbout 5 min.\n\nAfter this lesson you can\n\n- say $Y = XW$ aloud"
    )


def test_prose_is_the_lessons_own(exports, lessons):
    for lesson in lessons:
        shown = exports[f"{lesson.slug}.blank.md"]
        lines = lesson.source.split("\n")
        for block in lesson.blocks:
            if isinstance(block, Prose):
                line = lines[block.place.line - 1]
                assert line in shown or "](" in line


def test_every_question_of_the_course_has_an_answer(exports, lessons):
    for lesson in lessons:
        questions = [
            one for one in lesson.exercises if isinstance(one, ChoiceQuestion | NumberQuestion | ShapeQuestion)
        ]
        text = exports[f"{lesson.slug}.blank.md"]
        assert text.count("<summary>Answer</summary>\n\n**") >= len(questions)


def test_code_that_holds_a_fence_stays_in_its_fence():
    cell = NotebookCell(text="", code=True, plain='note = """\n```\n"""')

    assert written_as("md", [cell]) == '````python\nnote = """\n```\n"""\n````\n'


@pytest.mark.parametrize(
    "text", ["", "# only this", "a = ", "\tx = 1", "if x:\n\ty = 1", 's = """\n  a"""', "a\rb\0\ud800"]
)
def test_known_texts_fit_into_a_block(text):
    ast.parse(f"with box:\n{as_block_body(text)}\n")


DEEP = {
    "signs": "-" * 19_000 + "1",
    "attributes": "a" + ".b" * 6_000,
    "sums": "a" + "+a" * 9_000,
    "short sums": "a" + "+a" * 900,
    "calls": "a" + "()" * 9_000,
    "brackets": "(" * 9_000,
    "conditions": "a if b else " * 1_500 + "c",
    "blocks": "".join(" " * depth + "if 1:\n" for depth in range(90)),
    "branches": "if a: b\n" + "elif a: b\n" * 1_900,
    "large numbers": "x = 'a' * 10**9\ny = 1 << 10**9",
    "comparisons": "a" + "<a" * 9_000,
    "longer than a box": "a = 1\n" * 9_000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_text_that_is_too_much_becomes_a_comment(text):
    shown = as_block_body(text)

    assert shown.startswith("    # This is not Python yet") or compile(f"with box:\n{shown}", "box", "exec")


@given(st.text(max_size=80) | st.text("ab=()[]'\"\\\n\r\t #:_\f\x0b\u2028", max_size=60))
@example("\x0b#")
@example(r"'\8'")
@examples(100)
@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")  # which is said of the learner's text, and is no error
def test_any_text_fits_into_a_block(text):
    ast.parse(f"with box:\n{as_block_body(text)}\nafter = 1\n")


def test_lines_to_be_put_in_order_are_shown_shuffled_and_folded_in_order():
    text = ":::{order} lines\n\n```{solution}\ndb = a\nda = b + db\ndx = 2 * x * da + db\n```\n\nWhich first?\n:::\n"

    found = markdown_of(text)

    shown, told = found.split("<summary>Answer</summary>")
    assert "```python\ndb = a\nda = b + db\ndx = 2 * x * da + db\n```" in told
    assert "Which first?\n\n```python\n" in shown
    assert all(f"\n{line}\n" in shown for line in ("db = a", "da = b + db", "dx = 2 * x * da + db"))
    assert "db = a\nda = b + db" not in shown


def test_cells_are_asked_with_their_numbers_and_answered_as_a_table():
    text = (
        "```{forward} small\n:inputs: {A: [1, 2], B: [2, 1]}\n:output: O\nO = A @ B\n```\n\n"
        ":::{cells} da\n:forward: small\n:of: dA\n:at: {A: [[1, 2]], B: [[5], [7]], dO: [[2]]}\n\nFill in.\n\n"
        "- `5, 7`: The upstream is missing.\n:::\n"
    )

    found = markdown_of(text, right={"da": "`[[10.0, 14.0]]`"}, answers={"da": ("10", "13")})

    asked, told = found.split("<summary>Answer</summary>")
    assert "Fill in." in asked
    assert "`B = [[5], [7]]`" in asked
    assert "Your answer: `10, 13`" in asked
    assert "**`[[10.0, 14.0]]`**" in told
    assert "The upstream is missing." in told


OF_A_COURSE = """---
title: A
id: a
estimate: 5 min
goals:
  - Know $\\pd{L}{x}$.
---

By [](#chain), `$\\pd{a}{b}$` is $\\pd{a}{b}$.

```text
$\\pd{a}{b}$
```

$$
\\pd{L}{y}
$$ (chain)

:::{note}
Here is ![a box](../pictures/box.svg){width=40}.
:::
"""


@pytest.fixture(scope="module")
def of_a_course() -> Lesson:
    page = CoursePage({"pd": "\\partial #1/\\partial #2"})
    lesson, errors = parse_lesson(OF_A_COURSE, "1-unit/01-a.md", course=page)
    assert lesson is not None, errors
    return lesson


def test_what_a_lesson_has_of_its_course_is_written_out(of_a_course):
    text = written_as("md", cells_of(of_a_course))

    assert "- Know $\\partial L/\\partial x$." in text
    assert "By [(1)](#chain), `$\\pd{a}{b}$` is $\\partial a/\\partial b$." in text
    assert "```text\n$\\pd{a}{b}$\n```" in text
    assert '<a id="chain"></a>\n\n$$\n\\partial L/\\partial y \\tag{1}\n$$' in text


def test_an_image_goes_into_a_notebook_and_as_words_if_missing(of_a_course):
    work = Work(pictures={"pictures-box.svg": b"<svg/>"})

    notebook = json.loads(written_as("ipynb", cells_of(of_a_course, work)))

    (cell,) = [one for one in notebook["cells"] if "attachments" in one]
    assert cell["attachments"] == {"pictures-box.svg": {"image/svg+xml": "PHN2Zy8+"}}
    assert "![a box](attachment:pictures-box.svg)" in "".join(cell["source"])
    for text in (written_as("py", cells_of(of_a_course, work)), written_as("ipynb", cells_of(of_a_course))):
        assert "attachment" not in text
        assert "a box" in text
