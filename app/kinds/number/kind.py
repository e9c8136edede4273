"""Ask for one number, or for several by name."""

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, typed_question
from app.content.text.arithmetic import UnreadableError, number_of
from app.content.text.sentences import code_span
from app.kinds.number.block import NumberQuestion, NumbersQuestion
from app.kinds.number.mark import mark_number, mark_numbers
from app.kinds.quiz_kind import QuizKind


def _key(quiz: NumbersQuestion) -> Iterator[tuple[str, Markup]]:
    values = (Markup("{} = {}").format(part.name, code_span(part.answer)) for part in quiz.parts)
    yield "Right", Markup(", ").join(values)


def _value(quiz: NumberQuestion) -> str:
    try:
        value = f"{number_of(quiz.answer, quiz.given):.6g}"
    except UnreadableError:
        return f"`{quiz.answer}`"
    return value if value == quiz.answer.strip() else f"`{quiz.answer}` = {value}"


def _export(quiz: NumberQuestion, text: str, work: Work) -> QuestionText:
    return typed_question(quiz, text, work, right=f"**{_value(quiz)}**")


def _export_several(quiz: NumbersQuestion, text: str, work: Work) -> QuestionText:
    right = ", ".join(f"{part.name}: **{_value(part)}**" for part in quiz.parts)
    return typed_question(quiz, text, work, below=[", ".join(part.name for part in quiz.parts)], right=right)


KINDS: tuple[QuizKind[Any], ...] = (
    QuizKind(
        name="number",
        block=NumberQuestion,
        mark=mark_number,
        answers=lambda quiz, *_: [quiz.answer],
        called="a number",
        ditto=True,
        key=lambda quiz: [("Right", code_span(quiz.answer))],
        export=_export,
    ),
    QuizKind(
        name="numbers",
        block=NumbersQuestion,
        mark=mark_numbers,
        answers=lambda quiz, *_: [[part.answer for part in quiz.parts]],
        by_place=True,
        decides=lambda quiz: [(part.name, part.answer, part.given) for part in quiz.parts],
        key=_key,
        export=_export_several,
    ),
)
