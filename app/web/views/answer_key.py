"""Answer key: what the author wrote or the engine derived as right and wrong, by exercise; never sent to learners."""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import ChoiceQuestion, CodeBox, Exercise, Lesson, NumberQuestion, NumbersQuestion, OrderQuestion
from app.content.sentences import code_span, render_sentence
from app.grading.quiz.right_answers import right_answers


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
        AnswerKeyEntry(exercise.name, tuple(_told(exercise, derived.get(exercise.name, ""))), tuple(_codes(exercise)))
        for exercise in lesson.exercises
    )


def _told(exercise: Exercise, derived: str) -> Iterator[tuple[str, Markup]]:
    if derived:
        yield "Right", render_sentence(derived)
    match exercise:
        case NumberQuestion(answer=answer):
            yield "Right", code_span(answer)
        case NumbersQuestion(parts=parts):
            yield (
                "Right",
                Markup(", ").join(
                    Markup("{} = {}").format(number_question.name, code_span(number_question.answer))
                    for number_question in parts
                ),
            )
        case ChoiceQuestion(options=options):
            for option in options:
                yield (
                    ("Right" if option.right else "Wrong"),
                    Markup(": ").join(markup for markup in (option.html, option.feedback) if markup),
                )
        case OrderQuestion(lines=lines, steps=steps):
            yield (
                "Right",
                Markup("<br>").join([order_step.html for order_step in steps] or [code_span(line) for line in lines]),
            )
    for tempting in getattr(exercise, "tempting", ()):
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
