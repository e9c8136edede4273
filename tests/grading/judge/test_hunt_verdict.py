"""The line that is named in a bug hunt, and what else was changed."""

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import Bug, Code, CorrectLine, SourceLocation
from app.grading.judge.hunt_verdict import changes_of, line_verdict, others_verdict, split_line, suspects_of, with_line

PLACE = SourceLocation("hunt.md", 1)
GIVEN = "# a comment\ndu = dy * g\n\ndm = (\n    du.mean(0)\n)\ndx = du + dm\n"


def code(source: str) -> Code:
    return Code(place=PLACE, source=source, line=1)


BUG = Bug(
    place=PLACE, name="hunt", forward="f", require=("dx",), starter=code(GIVEN), line=4, end=6,
    mended=code("dm = du.sum(0)\n"), solution=code(GIVEN.replace("mean", "sum")),
    innocent=(CorrectLine(place=PLACE, line=2, message="The gain is right."),),
)  # fmt: skip


@given(st.text(max_size=60), st.integers(1, 999_999))
def test_a_line_that_is_put_on_any_text_can_be_taken_off(text, line):
    bare = split_line(text)[0]

    assert split_line(with_line(text, line)) == (bare, line)


@pytest.mark.parametrize("mark", ["# wrong line: 4", "#wrong line:4", "\n\n  # wrong line: 4  \n\n"])
def test_a_line_may_be_named_in_a_comment_at_the_end(mark):
    assert split_line(f"dx = 1\n{mark}")[1] == 4


@pytest.mark.parametrize("text", ["# wrong line: 4\ndx = 1\n", "dx = 1  # wrong line: four", "'# wrong line: 4'", ""])
def test_no_other_text_names_a_line(text):
    assert split_line(text) == (text, None)


@pytest.mark.parametrize(
    ("named", "verdict", "writes", "said"),
    [
        (4, "right", "dm", ""),
        (6, "right", "dm", ""),
        (2, "wrong", "du", "The gain is right."),
        (7, "wrong", "dx", "Line 7 is right as it stands. Look at the others."),
        (8, "wrong", "", "There is no line 8."),
        (0, "wrong", "", "There is no line 0."),
        (None, "not-yet", "", "Mark the line"),
    ],
)
def test_the_planted_statement_may_be_named_by_any_of_its_lines(named, verdict, writes, said):
    found = line_verdict(BUG, named)

    assert (found.verdict, found.step) == (verdict, writes)
    assert said in found.message


def test_statements_begin_on_suspect_lines():
    assert suspects_of(BUG) == {2, 4, 7}


MEND = GIVEN.replace("mean", "sum")
CHANGES = [
    (GIVEN, "none"),
    (GIVEN.replace("# a comment\n", "").replace(" ", "  ").replace("    du", "du"), "none"),
    (MEND, "right"),
    ("\n# found\n" + ast.unparse(ast.parse(MEND)), "right"),
    (MEND.replace("dm = (", "n = len(dy)\ndm = ("), "right"),
    ("dm = du.sum(0)\ndu = dy * g\ndx = du + dm\n", "right"),
    ("du = dy * g\ndx = du + dm\ndm = du.mean(0)\n", "right"),
    ("k = du.sum(0)\ndu = dy * g\ndx = du + dm\n", "other lines:added"),
    ("du = dy * g\ndu = dy * g\ndx = du + dm\ndm = du.sum(0)\n", "other lines:added"),
    (MEND.replace("dy * g", "g * dy"), "other lines:changed"),
    (MEND.replace("du + dm", "dm + du"), "other lines:changed"),
    (MEND.replace("du = dy * g\n", "du = dy\ndu = du * g\n"), "other lines:changed"),
    ("k = 1\n" + MEND, "other lines:added"),
    (MEND + "k = 1\n", "other lines:added"),
    (GIVEN.replace("dx = ", "dm = du.sum(0)\ndx = "), "other lines:made-up"),
    (GIVEN.replace("du + dm", "du + du.sum(0)"), "other lines:made-up"),
    ("", "other lines:changed"),
]


@pytest.mark.parametrize(("text", "expected"), CHANGES)
def test_every_change_but_that_of_the_planted_statement_is_noticed(text, expected):
    changes = changes_of(BUG, text)

    assert changes is not None
    found = "none" if changes.none else others_verdict(BUG, changes).code or "right"
    assert found == expected


def test_a_mended_line_is_right_whatever_number_of_lines_comes_after_it():
    for more in ("", "dg = dx * u\n", "dg = dx * u\ndb = dx.sum(0)\n"):
        bug = replace(BUG, starter=code(GIVEN + more))

        assert not others_verdict(bug, changes_of(bug, MEND + more)).code


@given(st.text(max_size=80))
def test_any_text_gets_an_answer(text):
    changes = changes_of(BUG, text)

    assert changes is None or isinstance(others_verdict(BUG, changes).message, str)
