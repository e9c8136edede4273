"""Every reader of numbers, over all numerals of Unicode: it reads or refuses in words, and none is an error of ours.

`"²".isdigit()` is true and `int("²")` raises; `int` takes the digits of sixty scripts, and no more than 4,300 of them.
Questions are asked so in `kinds`, lessons in `content/test_parse`, forms and addresses in `web/test_http_fuzz`.
"""

import ast
import contextlib
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from app.content.blocks import Quiz
from app.content.export.notebook import Work
from app.content.text.arithmetic import UnreadableError, number_of
from app.content.text.estimates import minutes_of
from app.content.text.sizes import UnreadableShapeError, sizes_in
from app.engine.json_columns import decoded_draw
from app.grading.judge.hunt_verdict import split_line
from app.grading.nudge.quotient import read_entry
from app.kinds.registry import quiz_kind
from app.practice.session_plans import PracticeSet, set_called
from app.store.classes import RefusedError, new_member
from app.teaching import codes, dates, roster
from app.web.class_access import parse_row_id
from app.web.middleware.security import _declared_length
from app.web.routes.form_fields import parse_number
from app.web.views.attempt_mistakes import answer_words
from app.web.views.slips_view import said_of
from tests.examples import examples
from tests.kinds.test_mark import LESSON, QUIZZES
from tests.turns import PAGES

APP = Path(__file__).parents[1] / "app"
NUMERALS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.numeric(chr(code), None) is not None]
ONE_OF_EACH_KIND = list(
    {
        (unicodedata.name(one).partition(" ")[0], unicodedata.category(one), one.isdecimal(), one.isdigit()): one
        for one in reversed(NUMERALS)
    }.values()
)
"""Of each script, and of each that Python takes for a number in its own way."""
FORMS = ["{}", "5{}", "{}5", "-{}", "({}, 5)", "{}.5", "{}e{}", "2026-11-{}", "Ada, +{}", "after:{}", "declared-{}"]
LONG = [numeral * count for numeral in "9٣²" for count in (30, 400, 5000)]
PEOPLE = [new_member(1, 1, "learner", "Ada")]


def each_quiz(read: Callable[[Quiz, str], object]) -> Callable[[str], object]:
    kinds = {type(quiz): quiz for quiz in QUIZZES}.values()
    return lambda text: [read(quiz, text) for quiz in kinds]


def dated(read: Callable[[str], object], text: str) -> None:
    """A date is refused by an error of Python's own kind, so its words tell."""
    try:
        read(text)
    except ValueError as error:
        if " is no da" not in str(error):
            raise


READERS: dict[str, tuple[Callable[[str], object], tuple[type[Exception], ...]]] = {
    "a shape": (sizes_in, (UnreadableShapeError,)),
    "a formula": (number_of, (UnreadableError,)),
    "an index": (lambda text: read_entry(text, "dW", (4, 5)), ()),
    "the line of a hunt": (lambda text: split_line(f"x = 1\n# wrong line: {text}"), ()),
    "a date": (lambda text: dated(lambda one: dates.parse_local_date(one, "Europe/Berlin"), text), ()),
    "a day": (lambda text: dated(dates.parse_day, text), ()),
    "points": (lambda text: parse_number("Points", text), (RefusedError,)),
    "days for people": (lambda text: roster.read_days(text, PEOPLE), ()),
    "a roster": (roster.read_roster, (roster.SheetError,)),
    "a code of a class": (codes.read_code, ()),
    "a row in an address": (parse_row_id, (HTTPException,)),
    "a round of practice": (lambda text: set_called(f"sums-{text}", {"sums": PracticeSet("sums", "Sums")}), ()),
    "the length of a body": (lambda text: _declared_length(Headers(raw=[(b"content-length", text.encode())])), ()),
    "an estimate": (lambda text: minutes_of(f"{text} min"), ()),
    "a stored draw": (lambda text: decoded_draw(f'{{"draw": {text}}}'), ()),
    "a stored slip": (lambda text: said_of(LESSON, LESSON.exercises[0].name, text), ()),
    "a stored answer on a board": (each_quiz(lambda quiz, text: answer_words(quiz, (text,))), ()),
    "a stored answer in a notebook": (
        each_quiz(lambda quiz, text: quiz_kind(quiz).export(quiz, "?", Work(answers={quiz.name: (text,)}))),
        (),
    ),
}
EVERY = pytest.mark.parametrize("reader", READERS)


def read(reader: str, text: str) -> None:
    call, refusals = READERS[reader]
    with contextlib.suppress(*refusals):
        call(text)


@pytest.mark.in_turn(turns=4, places=PAGES)
@EVERY
@pytest.mark.parametrize(
    ("numerals", "forms"),
    [
        pytest.param(ONE_OF_EACH_KIND, FORMS, id="one of each kind"),
        pytest.param(NUMERALS, FORMS[:1], id="all of them", marks=pytest.mark.prove),
    ],
)
def test_no_numeral_is_an_error_of_ours(reader: str, numerals: list[str], forms: list[str]) -> None:
    for form in forms:
        for numeral in (*numerals, *LONG):
            read(reader, form.replace("{}", numeral))


@EVERY
@examples(30)
@given(text=st.text(st.sampled_from(NUMERALS) | st.sampled_from("+-−.,:;()[]eE/ x×*#dhT\t"), max_size=40))
def test_no_text_of_numerals_is_an_error_of_ours(reader: str, text: str) -> None:
    read(reader, text)


def test_whether_a_text_is_a_number_is_asked_by_isdecimal() -> None:
    """`int` takes what `isdecimal` is true of; the other two are true of more."""
    asked: dict[str, Any] = {}
    for file in APP.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        asked[file.name] = [
            one.lineno
            for one in ast.walk(tree)
            if isinstance(one, ast.Attribute) and one.attr in ("isdigit", "isnumeric")
        ]

    assert len(asked) > 300
    assert {name: lines for name, lines in asked.items() if lines} == {}
