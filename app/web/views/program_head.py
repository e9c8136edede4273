"""The forward program in the head of a code box, and which of its shapes may be told there."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from app.content.blocks import CodeBox, Forward, Lesson, Quiz
from app.content.text.sizes import format_shape
from app.grading.forward.facts import Shape
from app.kinds.registry import quiz_kind
from app.store.progress import LessonState
from app.web.pictures.graph import graph_rows
from app.web.site import RenderCache

NEARBY_BLOCKS = 2  # blocks above a box that can be seen with it


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """One statement of a forward program, which makes *name*; *shape* is empty where it is not known, or asked."""

    name: str
    source: str
    shape: str


def asked_shapes(cache: RenderCache, lesson: Lesson, forward: str, solved: Collection[str]) -> frozenset[str]:
    """The tensors of *forward* whose shapes *lesson* asks and that are not answered yet.

    The shape of a gradient gives away that of its tensor; those of inputs stand below it, unless they are asked.
    """
    given = {tensor_input.name for tensor_input in lesson.forwards[forward].inputs}
    questions: list[tuple[Quiz, str]] = cache.of(lesson, {}, lambda: list(_shape_questions(lesson)), "shapes")
    names = [shape for quiz, shape in questions if quiz.forward == forward and quiz.name not in solved]
    return frozenset({*names, *({name.removeprefix("d") for name in names} - given)})


def _shape_questions(lesson: Lesson) -> Iterator[tuple[Quiz, str]]:
    """Questions for shapes, each with the tensor or the gradient that it is about."""
    for quiz in lesson.all_of(Quiz):
        if shape := quiz_kind(quiz).shape_asked(quiz):
            yield quiz, shape


def program_of(
    cache: RenderCache, lesson: Lesson, exercise: CodeBox, state: LessonState, shapes: Mapping[str, Shape]
) -> tuple[ProgramLine, ...]:
    """Program that *exercise* goes back through, line by line; empty if it is shown right above."""
    forward = lesson.forwards.get(exercise.forward or "")
    if forward is None or (forward.show and forward in _above(cache, lesson, exercise)):
        return ()
    lines = cache.of(exercise, shapes, lambda: lines_of(forward, shapes), "program")
    questions = asked_shapes(cache, lesson, forward.name, state.solved)
    return tuple(replace(line, shape="") if line.name in questions else line for line in lines)


def lines_of(forward: Forward, shapes: Mapping[str, Shape]) -> tuple[ProgramLine, ...]:
    shown = {name: format_shape(shape) for name, shape in shapes.items()}
    return tuple(
        ProgramLine(graph_row.name, graph_row.source, shown.get(graph_row.name, ""))
        for graph_row in graph_rows(forward)
    )


def _above(cache: RenderCache, lesson: Lesson, exercise: CodeBox) -> tuple[object, ...]:
    """Blocks above *exercise* that are visible with it."""

    def found() -> tuple[object, ...]:
        at = next((at for at, block in enumerate(lesson.blocks) if block is exercise), 0)
        return lesson.blocks[max(at - NEARBY_BLOCKS, 0) : at]

    return cache.of(exercise, {}, found, "above")
