"""The right answers of quizzes as a text says them, derived like the marks from the forward program's shapes."""

from collections.abc import Mapping

from app.content.blocks import AxesQuestion, CellsQuestion, Forward, Lesson, MatmulQuestion, Quiz, ShapeQuestion
from app.content.sizes import shape_text
from app.grading.diagnosis.evidence import Array
from app.grading.forward.facts import Shape as Sizes
from app.grading.quiz.feedback import tensor_of, word_list
from app.grading.quiz.mark_axes import right_axes
from app.grading.quiz.mark_cells import answer_of, names_of
from app.grading.quiz.mark_matmul import right_products
from app.grading.reading.shape_inference import infer_shapes


def right_answers(lesson: Lesson) -> dict[str, str]:
    """By quiz: what is right, with code in backticks. Quizzes that carry their answer, or whose shapes cannot be told
    from the source alone, are left out."""
    inferred: dict[str, Mapping[str, Sizes]] = {"": {}}
    answers = {}
    for quiz in lesson.exercises:
        if isinstance(quiz, ShapeQuestion | AxesQuestion | MatmulQuestion | CellsQuestion):
            forward = lesson.forward(quiz.forward or "")
            name = forward.name if forward else ""
            if forward and name not in inferred:
                inferred[name] = infer_shapes(forward)
            answers[quiz.name] = _answer(quiz, inferred[name], forward)
    return {name: answer for name, answer in answers.items() if answer}


def _answer(quiz: Quiz, shapes: Mapping[str, Sizes], forward: Forward | None) -> str:
    match quiz:
        case ShapeQuestion():
            tensor = tensor_of(quiz.of, shapes) if quiz.of else None
            return shape_text(shapes[tensor]) if tensor else f"`{quiz.answer}`" if quiz.answer else ""
        case AxesQuestion():
            axes = right_axes(quiz, shapes, forward)
            return _axes(sorted(axes[0])) if axes else ""
        case CellsQuestion():
            entries = answer_of(quiz, forward)
            return "" if entries is None else _cells(quiz, entries)
        case MatmulQuestion():
            products = right_products(quiz, shapes, forward)
            return f"`{products[0]}`" if products else ""
    return ""


def _axes(axes: list[int]) -> str:
    if not axes:
        return "no axis"
    return f"{'axis' if len(axes) == 1 else 'axes'} {word_list([f'`{axis}`' for axis in axes])}"


def _cells(quiz: CellsQuestion, entries: Array) -> str:
    if not quiz.feeds and quiz.pick is None:
        return f"`{entries.round(4).tolist()}`"
    return word_list(
        [f"`{name}`" for name, fed in zip(names_of(quiz, entries.shape), entries.ravel(), strict=True) if fed]
    )
