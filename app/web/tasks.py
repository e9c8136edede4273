"""What the graders know of a course: code boxes as tasks, and the shapes of forward programs' tensors.

A verdict is found again under a key of the task, the text and the sources of everything that judges it: after an update
of either, the same text is graded again.
"""

import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from app.content.blocks import Axes, Checker, Choice, CodeBox, Course, Forward, FunctionBox, Lesson, Number, Quiz
from app.content.sizes import written
from app.engine.codec import plain
from app.engine.grader import Grader
from app.engine.task import AnyTask, Task, task_of
from app.grading.forward.facts import Shape
from app.grading.shapes.shape_inference import infer

JUDGES = ("grading", "engine", "sandbox", "content")


class Tasks:
    """Every task of a course, made once: graders recognise a task by identity.

    Args:
        mark: Of the hidden numbers that answers are judged on.
    """

    def __init__(self, course: Course, mark: str = "") -> None:
        judges = _judges() + mark.encode()
        self._tasks: dict[tuple[str, str], AnyTask] = {}
        self._hashes: dict[tuple[str, str], str] = {}
        for lesson in course.lessons:
            for exercise in lesson.exercises:
                if isinstance(exercise, CodeBox):
                    task = task_of(lesson, exercise)
                    self._tasks[lesson.name, exercise.name] = task
                    self._hashes[lesson.name, exercise.name] = sha256(
                        judges + json.dumps(plain(task), sort_keys=True).encode()
                    ).hexdigest()

    def task(self, lesson: Lesson, exercise: CodeBox) -> AnyTask:
        return self._tasks[lesson.name, exercise.name]

    def key(self, lesson: Lesson, exercise: CodeBox, code: str) -> str:
        key = f"{self._hashes[lesson.name, exercise.name]}\0{code}"
        return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _judges() -> bytes:
    root = Path(__file__).resolve().parents[1]
    together = sha256()
    for room in JUDGES:
        for file in sorted((root / room).rglob("*.py")):
            together.update(file.read_bytes())
    return together.digest()


class ShapesOf:
    """Shapes by forward program, kept for the life of the process (a program is identified by itself)."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._inferred: dict[int, tuple[Forward, Mapping[str, Shape]]] = {}
        self._asked: dict[int, Mapping[str, Shape]] = {}

    def inferred(self, forward: Forward) -> Mapping[str, Shape]:
        """What the source alone tells; nothing is run."""
        kept = self._inferred.get(id(forward))
        if kept is None:
            kept = self._inferred[id(forward)] = (forward, infer(forward))
        return kept[1]

    async def of(self, forward: Forward | None, *names: str) -> Mapping[str, Shape]:
        """Shapes of *forward* with at least *names*, if a grader can find them."""
        if forward is None:
            return {}
        shapes = self.inferred(forward)
        if all(name in shapes for name in names):
            return shapes
        asked = self._asked.get(id(forward))
        if asked is None:
            if self._grader.readiness.state != "ready":
                return shapes
            facts = await self._grader.facts(forward)
            if facts.error:
                return shapes
            asked = self._asked[id(forward)] = {**facts.shapes, **shapes}
        return asked

    def known(self, lesson: Lesson, box: CodeBox) -> Mapping[str, Shape]:
        """What the source of the forward program of *box* tells."""
        forward = None if isinstance(box, Checker | FunctionBox) else lesson.forward(box.forward)
        return {} if forward is None else self.inferred(forward)

    async def about(self, lesson: Lesson, quiz: Quiz) -> Mapping[str, Shape]:
        """Shapes of the tensors that *quiz* is about; nothing for one without a forward program."""
        if isinstance(quiz, (Number, Choice)) or quiz.forward is None:
            return {}
        asked = (quiz.of, quiz.source if isinstance(quiz, Axes) else None)
        return await self.of(lesson.forward(quiz.forward), *(name.removeprefix("d") for name in asked if name))


MODULES = ("torch", "F", "math")


def scope_of(task: Task, shapes: Mapping[str, Shape]) -> str:
    """`X|(32, 100); dY|(32, 27); N|32; torch|module`: names that the page knows nothing about have no detail."""
    forward = task.forward
    upstream = f"d{forward.output}"
    details = {name: written(shape) for name, shape in shapes.items()}
    for gradient in (upstream, *task.given):
        details[gradient] = details.get(gradient.removeprefix("d"), "")
    details |= {name: str(size) for name, size in forward.dims.items()}
    return _joined(details)


def scope_of_function(box: Checker | FunctionBox) -> str:
    """The arguments of the function that is asked for."""
    return _joined(dict.fromkeys(box.arguments, ""))


def _joined(details: dict[str, str]) -> str:
    return "; ".join(f"{name}|{detail}" for name, detail in (details | dict.fromkeys(MODULES, "module")).items())
