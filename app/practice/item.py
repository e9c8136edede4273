"""One exercise as it was drawn: texts and numbers, which is all that is ever kept of it."""

from dataclasses import dataclass
from functools import cached_property

from app.content.blocks import Forward, Grad, Lesson
from app.content.parse import parse_lesson
from app.engine.task import Task, grad_task_of
from app.practice.derived_hints import hints
from app.practice.fragments import front_matter, grad_box, program

LESSON_PATH = "1-practice/01-practice.md"


@dataclass(frozen=True, kw_only=True)
class Item:
    """An exercise.

    Args:
        version: Of the generator that drew it; a later one may draw something else from the same *seed*.
        wanted: The row of the diagnosis that it can show, such as `mean`; empty where any will do.
        within: The operations that it was drawn from; empty for all.
        forward: The body of its `{forward}`: options and lines.
        solution: The backward pass, a line for each share.
        by: The operation behind each line of the solution.
        operations: Those of the forward program, in its order.
        points: How hard it is.
    """

    version: int
    level: int
    seed: int
    wanted: str
    within: tuple[str, ...]
    forward: str
    solution: str
    by: tuple[str, ...]
    operations: tuple[str, ...]
    points: int

    @property
    def name(self) -> str:
        """An id for lessons: `mean-2-17`."""
        return f"{self.wanted.replace(':', '-') or 'practice'}-{self.level}-{self.seed}"

    @cached_property
    def require(self) -> tuple[str, ...]:
        """The gradients that are asked for, in backward order."""
        return tuple(dict.fromkeys(line.split()[0] for line in self.solution.splitlines()))

    @cached_property
    def fragment(self) -> str:
        """Markdown for a lesson: the program, and the box in which its backward pass is written."""
        return program(self) + "\n" + grad_box(self, hints(self))

    def lesson_of(self, fragment: str) -> Lesson:
        """A lesson that holds *fragment* alone; what this room writes always parses."""
        lesson, errors = parse_lesson(front_matter(self) + fragment, LESSON_PATH)
        assert lesson is not None, [str(one) for one in errors]
        return lesson

    @cached_property
    def lesson(self) -> Lesson:
        return self.lesson_of(self.fragment)

    @cached_property
    def program(self) -> Forward:
        return next(iter(self.lesson.forwards.values()))

    @cached_property
    def box(self) -> Grad:
        box = self.lesson.exercises[0]
        assert isinstance(box, Grad)
        return box

    @cached_property
    def task(self) -> Task:
        return grad_task_of(self.lesson, self.box)
