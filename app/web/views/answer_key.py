"""Answer key: what the author wrote or the engine derived as right and wrong, by exercise; never sent to learners."""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import CodeBox, Exercise, Lesson, Quiz
from app.content.text.sentences import code_span, render_sentence
from app.kinds.registry import quiz_kind, right_answers


@dataclass(frozen=True, slots=True)
class AnswerKeyEntry:
    """Of one exercise: what is *told*, and *codes*, each under a word."""

    name: str
    told: tuple[tuple[str, Markup], ...]
    codes: tuple[tuple[Markup, str], ...]


def answer_key(lesson: Lesson) -> tuple[AnswerKeyEntry, ...]:
    """A key for every exercise of *lesson*, in its order."""
    derived = right_answers(lesson)
    return tuple(
        AnswerKeyEntry(
            exercise.name, tuple(_key_lines(exercise, derived.get(exercise.name, ""))), tuple(_codes(exercise))
        )
        for exercise in lesson.exercises
    )


def _key_lines(exercise: Exercise, derived: str) -> Iterator[tuple[str, Markup]]:
    if derived:
        yield "Right", render_sentence(derived)
    if isinstance(exercise, Quiz):
        yield from quiz_kind(exercise).key(exercise)
        for tempting in exercise.tempting:
            yield "Wrong", Markup("{}: {}").format(code_span(tempting.value), tempting.html)
    if exercise.right:
        yield "Said when right", exercise.right
    for hint in exercise.hints:
        yield "Hint", hint.html


def _codes(exercise: Exercise) -> Iterator[tuple[Markup, str]]:
    if isinstance(exercise, CodeBox):
        yield Markup("Solution"), exercise.solution.source
        yield from ((Markup("Also right"), code.source) for code in exercise.alternatives)
        yield from (
            (Markup("Mistake: {}").format(declared_mistake.html), declared_mistake.code.source)
            for declared_mistake in exercise.mistakes
        )
