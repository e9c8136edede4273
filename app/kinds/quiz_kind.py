"""Kinds of questions, as the rooms above see them: one value each, made in the folder of the kind."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from app.check.findings import Finding
from app.content.blocks import Forward, Quiz
from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, typed_question
from app.content.text.sentences import code_span
from app.grading.quiz.feedback import Feedback, Shapes
from app.kinds.block_kind import BlockKind, nothing

LONGEST_SAID = 160

Q = TypeVar("Q", bound=Quiz)
Candidate = str | Sequence[str]
T = TypeVar("T")
OfQuiz = Callable[[Q, Shapes, Forward | None], T]


def no_finding(*_: object) -> None:
    """Nothing to say against it."""


def no_text(*_: object) -> str:
    return ""


def only_value(given: Sequence[str]) -> str:
    return given[0] if len(given) == 1 else ""


def typed_words(_: Quiz, given: Sequence[str]) -> Markup:
    """The values of an answer as they were typed."""
    return code_span(", ".join(given)[:LONGEST_SAID] or "–")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizKind(BlockKind[Q]):
    """A kind of question. What a kind leaves out is as most have it.

    Args:
        mark: The reply to the values of an answer.
        answers: Of these one at least is right; a question with none is its author's fault.
        by_place: A value is known by its place among the others, so that an empty one counts.
        by_option: An answer is options by number, and so the same whatever numbers were drawn.
        ditto: A ditto mark in a row of a sheet repeats the answer above.
        fields: The fields of its form, where each has a name of its own.
        values: The values of an answer, from those of the fields.
        words: An answer as people would say it.
        plain: A value of an answer, in one spelling for all that are read alike; spaces make no difference anyway.
        listed: An answer as a list of tempting values has it; "" where none can.
        tensors: Tensors of the program whose shapes it is about.
        shape_asked: The tensor or gradient whose shape must not be told beside it; empty for none.
        line: The line of the program that it asks about.
        offer: What its template chooses from.
        right: The right answer as a text says it, with code in backticks; empty where it carries its answer.
        key: The lines of the answer key: a word, and what it is about.
        flaw: Why it cannot be asked so; nothing else is proved then.
        unanswerable: Why it has no right answer, and what to ask in its place.
        export: Its text in a notebook.
    """

    mark: Callable[[Q, Sequence[str], Shapes, Forward | None], Feedback]
    answers: OfQuiz[Q, Sequence[Candidate]]
    called: str = "a question"
    by_place: bool = False
    by_option: bool = False
    ditto: bool = False
    fields: tuple[str, ...] = ()
    values: Callable[[Sequence[str]], Sequence[str]] = tuple
    words: Callable[[Q, Sequence[str]], Markup] = typed_words
    plain: Callable[[str], str] = str
    listed: Callable[[Sequence[str]], str] = only_value
    tensors: Callable[[Q, Forward], tuple[str, ...]] = nothing
    shape_asked: Callable[[Q], str] = no_text
    line: Callable[[Q, Forward], str] = no_text
    offer: OfQuiz[Q, object] = nothing
    right: OfQuiz[Q, str] = no_text
    key: Callable[[Q], Iterable[tuple[str, Markup]]] = nothing
    flaw: OfQuiz[Q, Finding | None] = no_finding
    unanswerable: Callable[[Q], str] = no_text
    export: Callable[[Q, str, Work], QuestionText] = typed_question
