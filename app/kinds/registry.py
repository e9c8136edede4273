"""Registry of the kinds of exercise: what any question is asked is asked here, and no other module names a kind.

A kind that is added needs its folder alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from markupsafe import Markup

from app.content.blocks import CodeBox, Exercise, Forward, Lesson, Quiz, Train
from app.grading.quiz.feedback import USUAL, Feedback, Shapes
from app.grading.reading.shape_inference import infer_shapes
from app.kinds import modules_called
from app.kinds.block_kind import BlockKind, CodeKind
from app.kinds.quiz_kind import QuizKind

LONGEST_ANSWER, LONGEST_VALUE = 120, 24
KINDS: tuple[BlockKind[Any], ...] = tuple(kind for module in modules_called("kind") for kind in module.KINDS)
_BY_BLOCK: Mapping[type, Any] = {kind.block: kind for kind in KINDS}
E = TypeVar("E", bound=Exercise)


def block_kind(block: object) -> BlockKind[Any] | None:
    """The kind of *block*; None for one without a folder of its own."""
    kind: BlockKind[Any] | None = _BY_BLOCK.get(type(block))
    return kind


def quiz_kind(quiz: Quiz) -> QuizKind[Any]:
    """The kind of *quiz*."""
    kind: QuizKind[Any] = _BY_BLOCK[type(quiz)]
    return kind


def code_kind(exercise: CodeBox | Train) -> CodeKind[Any]:
    """The kind of *exercise*."""
    kind: CodeKind[Any] = _BY_BLOCK[type(exercise)]
    return kind


def mark_quiz(quiz: Quiz, answer: str | Sequence[str], shapes: Shapes, forward: Forward | None = None) -> Feedback:
    """The reply to *answer*.

    Args:
        answer: A text, or the values of the form's controls: option numbers of a choice, axis numbers of an axes quiz,
            operands of a product from left to right, such as `["X.T", "dY"]`.
        shapes: Of the tensors of the forward program that the quiz is about, as `infer_shapes` or `Facts` give them.
        forward: That program. Without it, a product is judged by its shape alone.
    """
    kind = quiz_kind(quiz)
    values = [answer] if isinstance(answer, str) else list(answer)
    values = [value.strip() for value in values if value.strip() or kind.by_place]
    # Where each value has a field of its own, there may be many, and each is read alone.
    lengths = [len(value) for value in values] or [0]
    if sum(lengths) > LONGEST_ANSWER and (max(lengths) > LONGEST_VALUE or not kind.by_place):
        return Feedback(correct=None, message=Markup("That is too long to be read as an answer."))
    feedback = kind.mark(quiz, values, shapes, forward)
    if not (feedback.correct and quiz.right):
        return feedback
    usual = () if feedback.message in USUAL else (feedback.message,)
    return replace(feedback, message=Markup(" ").join((*usual, Markup("<p>{}</p>").format(quiz.right))))


def select_draw(exercise: E, draw: int) -> E:
    """The draw of *exercise* with this number; itself where nothing varies."""
    drawn = exercise.draws[draw % len(exercise.draws)] if exercise.draws else exercise
    assert isinstance(drawn, type(exercise))
    return drawn


def answer_key(quiz: Quiz, draw: int, given: Sequence[str]) -> str:
    """Key of an answer to the *draw* of a question, the same for all who give it, however it is spelled."""
    plain = quiz_kind(quiz).plain
    return json.dumps([draw, *("".join(plain(value).split()) for value in given)])


def is_named_answer(quiz: Quiz, feedback: Feedback) -> bool:
    """True if the author has a sentence for the very answer that *feedback* is about."""
    tempting = {distractor.html for distractor in getattr(quiz, "tempting", ())}
    return quiz_kind(quiz).by_option or feedback.message in tempting


def right_answers(lesson: Lesson) -> dict[str, str]:
    """By quiz: what is right, with code in backticks. Quizzes that carry their answer, or whose shapes cannot be told
    from the source alone, are left out."""
    inferred: dict[str, Shapes] = {"": {}}
    answers = {}
    for quiz in lesson.all_of(Quiz):
        forward = lesson.forward(quiz.forward)
        name = forward.name if forward else ""
        if forward and name not in inferred:
            inferred[name] = infer_shapes(forward)
        answers[quiz.name] = quiz_kind(quiz).right(quiz, inferred[name], forward)
    return {name: answer for name, answer in answers.items() if answer}
