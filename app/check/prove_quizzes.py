"""Prove the quizzes: each has a right answer that is marked right, and every tempting one is wrong and is heard."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.check.findings import Finding
from app.content.blocks import (
    AxesQuestion,
    CellsQuestion,
    ChoiceQuestion,
    Distractor,
    Lesson,
    MatmulQuestion,
    NumberQuestion,
    NumbersQuestion,
    OrderQuestion,
    Quiz,
    ShapeQuestion,
    SourceLocation,
)
from app.content.blocks import Forward as Program
from app.content.mathml import words_of
from app.content.sizes import format_shape
from app.content.vary import drawn_words
from app.grading.forward.facts import Facts
from app.grading.forward.facts import Shape as Sizes
from app.grading.quiz import mark
from app.grading.quiz.feedback import shapes_offered, tensor_of, wanted_tensors, word_list
from app.grading.quiz.mark_axes import sums_offered
from app.grading.quiz.mark_cells import answer_of, right_values
from app.grading.quiz.mark_matmul import right_products
from app.grading.quiz.mark_order import as_values
from app.grading.quiz.mark_shape import answer_disagreement
from app.grading.quiz.worked import evaluate_on_random_data
from app.grading.reading.shape_inference import infer_shapes

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
    forward = lesson.forward(quiz.forward or "")
    # On other sizes a program is read and not run; it was compared with torch on its own.
    of_program = facts.get(forward.name) if forward else None
    if of_program and of_program.error:
        return []  # reported once, at the program
    # What the page offers and nothing more: a quiz that a grader alone could answer would be no quiz.
    ran = of_program.shapes if of_program else {}
    shapes: Shapes = shapes_offered(infer_shapes(forward), ran, wanted_tensors(quiz, forward)) if forward else {}
    if isinstance(quiz, ShapeQuestion) and (why := answer_disagreement(quiz, shapes)):
        return [_finding(quiz.place, "wrong-answer-key", why)]
    answers = _candidates(quiz, shapes, forward)
    if not any(mark(quiz, answer, shapes, forward).correct for answer in answers):
        return [Finding(quiz.place, "error", "no-right-answer", _why_none(quiz, answers))]
    if isinstance(quiz, MatmulQuestion) and len(answers) > 1 and evaluate_on_random_data(forward) is None:
        fitting = word_list([f"`{answer}`" for answer in answers])
        message = (
            f"{fitting} have the shape of `{quiz.of}`, and the numbers of this program cannot be worked out to tell "
            "which is right. Give its sizes different values, or ask in a code box."
        )
        return [_finding(quiz.place, "ambiguous-answer", message)]
    if isinstance(quiz, NumbersQuestion):
        return [finding for part in quiz.parts for finding in prove_quiz(lesson, part, facts)]
    tempting = () if isinstance(quiz, ChoiceQuestion | OrderQuestion) else quiz.tempting
    return [finding for distractor in tempting if (finding := _tempting(quiz, distractor, shapes, forward)) is not None]


def _why_none(quiz: Quiz, answers: Sequence[object]) -> str:
    """Say why *quiz* has no answer, and what to ask in its place."""
    match quiz:
        case AxesQuestion():
            return (
                f"No sum over axes of `{quiz.source}` gives the numbers of `{quiz.of}`. Name the gradient in ':from:' "
                f"that `{quiz.of}` is the sum of: that of the tensor which a broadcast made of it."
            )
        case MatmulQuestion():
            return (
                f"No product of two tensors of this program, transposed or not, gives the numbers of `{quiz.of}`. Ask "
                "for the gradient of a tensor that one product reads and nothing else does."
            )
        case CellsQuestion(pick=pick) if isinstance(pick, tuple):
            return f"`{quiz.of}` has no entry `{format_shape(pick)}`."
    tried = ", ".join(str(answer) for answer in answers)
    return f"No answer is marked right. Tried: {tried or 'nothing, for none can be derived'}."


def prove_inference(forward: Program, facts: Facts) -> list[Finding]:
    """The shapes that pages show without a jail must be those that torch gives."""
    read = infer_shapes(forward)
    wrong = [name for name, shape in read.items() if facts.shapes.get(name, shape) != shape]
    return [_misread(forward, name, facts.shapes[name], read[name]) for name in wrong]


def _misread(forward: Program, name: str, true: Sizes, read: Sizes) -> Finding:
    sizes = f"has the shape {format_shape(true)}, but was read from the source as {format_shape(read)}"
    message = f"`{name}` {sizes}: please report."
    return _finding(forward.place, "shape-misread", message)


def _candidates(quiz: Quiz, shapes: Shapes, forward: Program | None) -> list[str | list[str]]:
    match quiz:
        case NumberQuestion():
            return [quiz.answer]
        case NumbersQuestion():
            return [[part.answer for part in quiz.parts]]
        case ShapeQuestion():
            tensor = tensor_of(quiz.of, shapes) if quiz.of else None
            return [format_shape(shapes[tensor])] if tensor else [quiz.answer or ""]
        case AxesQuestion():
            return [" ".join(map(str, axes_option.axes)) for axes_option in sums_offered(quiz, shapes)]
        case MatmulQuestion():
            return list(right_products(quiz, shapes, forward))
        case CellsQuestion():
            entries = answer_of(quiz, forward)
            return [] if entries is None else [right_values(quiz, entries)]
        case OrderQuestion():
            return [as_values(quiz, range(len(quiz.lines)))]
        case ChoiceQuestion():
            return [[str(number) for number, option in enumerate(quiz.options) if option.right]]


def _tempting(quiz: Quiz, tempting: Distractor, shapes: Shapes, forward: Program | None) -> Finding | None:
    feedback = mark(quiz, tempting.value, shapes, forward)
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
