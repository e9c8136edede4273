"""Prove the quizzes: each has a right answer that is marked right, and every tempting one is wrong and is heard."""

from collections.abc import Mapping
from dataclasses import replace

from app.check.findings import Finding
from app.content.blocks import Distractor, Lesson, Quiz, SourceLocation
from app.content.blocks import Forward as Program
from app.content.directives.vary import drawn_words
from app.content.text.mathml import words_of
from app.content.text.sizes import format_shape
from app.grading.forward.facts import Facts
from app.grading.forward.facts import Shape as Sizes
from app.grading.quiz.feedback import shapes_offered
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.registry import mark_quiz, quiz_kind

Shapes = Mapping[str, Sizes]


def prove_quiz(lesson: Lesson, quiz: Quiz, facts: Mapping[str, Facts]) -> list[Finding]:
    """Findings about *quiz*, or about the first of its draws that has any.

    Args:
        facts: Of the lesson's forward programs, by name.
    """
    for draw in quiz.draws:
        assert isinstance(draw, Quiz)
        if findings := _prove(lesson, draw, facts):
            note = f" (Drawn were {drawn_words(draw.numbers)}.)"
            return [replace(finding, message=f"{finding.message}{note}") for finding in findings]
    return [] if quiz.draws else _prove(lesson, quiz, facts)


def _prove(lesson: Lesson, quiz: Quiz, facts: Mapping[str, Facts]) -> list[Finding]:
    forward = lesson.forward(quiz.forward)
    # On other sizes a program is read and not run; it was compared with torch on its own.
    of_program = facts.get(forward.name) if forward else None
    if of_program and of_program.error:
        return []  # reported once, at the program
    # What the page offers and nothing more: a quiz that a grader alone could answer would be no quiz.
    ran = of_program.shapes if of_program else {}
    kind = quiz_kind(quiz)
    shapes: Shapes = shapes_offered(infer_shapes(forward), ran, kind.tensors(quiz, forward)) if forward else {}
    if flaw := kind.flaw(quiz, shapes, forward):
        return [flaw]
    answers = kind.answers(quiz, shapes, forward)
    if not any(mark_quiz(quiz, answer, shapes, forward).correct for answer in answers):
        tried = ", ".join(str(answer) for answer in answers) or "nothing, for none can be derived"
        message = kind.unanswerable(quiz) or f"No answer is marked right. Tried: {tried}."
        return [_finding(quiz.place, "no-right-answer", message)]
    tempting = (_tempting(quiz, distractor, shapes, forward) for distractor in quiz.tempting)
    parts = (finding for part in quiz.parts for finding in prove_quiz(lesson, part, facts))
    return [*filter(None, tempting), *parts]


def prove_inference(forward: Program, facts: Facts) -> list[Finding]:
    """The shapes that pages show without a jail must be those that torch gives."""
    read = infer_shapes(forward)
    wrong = [name for name, shape in read.items() if facts.shapes.get(name, shape) != shape]
    return [_misread(forward, name, facts.shapes[name], read[name]) for name in wrong]


def _misread(forward: Program, name: str, true: Sizes, read: Sizes) -> Finding:
    sizes = f"has the shape {format_shape(true)}, but was read from the source as {format_shape(read)}"
    message = f"`{name}` {sizes}: please report."
    return _finding(forward.place, "shape-misread", message)


def _tempting(quiz: Quiz, tempting: Distractor, shapes: Shapes, forward: Program | None) -> Finding | None:
    feedback = mark_quiz(quiz, tempting.value, shapes, forward)
    if feedback.correct is None:
        return _finding(
            tempting.place, "unreadable", f"`{tempting.value}` cannot be read as an answer to this question."
        )
    if feedback.correct:
        return _finding(tempting.place, "tempting-right", f"`{tempting.value}` is marked right.")
    if str(tempting.html) not in str(feedback.message):
        message = f"`{tempting.value}` is answered with another message: {words_of(feedback.message)}"
        return _finding(tempting.place, "tempting-unheard", message)
    return None


def _finding(place: SourceLocation, code: str, message: str) -> Finding:
    return Finding(place, "error", code, message)
