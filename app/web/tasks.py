"""Code boxes as tasks for the graders, and the key under which a verdict is found again.

A key covers the task, the text and the sources of everything that judges it: after an update of either, the same text
is graded again.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from app.content.blocks import Course, Grad, Lesson
from app.engine.codec import plain
from app.engine.task import Task, grad_task_of

JUDGES = ("grading", "engine", "sandbox", "content")


class Tasks:
    """Every task of a course, made once: graders recognise a task by identity."""

    def __init__(self, course: Course) -> None:
        judges = _judges()
        self._tasks: dict[tuple[str, str], Task] = {}
        self._hashes: dict[tuple[str, str], str] = {}
        for lesson in course.lessons:
            for grad in lesson.exercises:
                if isinstance(grad, Grad):
                    task = grad_task_of(lesson, grad)
                    self._tasks[lesson.name, grad.name] = task
                    self._hashes[lesson.name, grad.name] = sha256(
                        judges + json.dumps(plain(task), sort_keys=True).encode()
                    ).hexdigest()

    def task(self, lesson: Lesson, grad: Grad) -> Task:
        return self._tasks[lesson.name, grad.name]

    def key(self, lesson: Lesson, grad: Grad, code: str) -> str:
        return sha256(f"{self._hashes[lesson.name, grad.name]}\0{code}".encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _judges() -> bytes:
    root = Path(__file__).resolve().parents[1]
    together = sha256()
    for room in JUDGES:
        for file in sorted((root / room).rglob("*.py")):
            together.update(file.read_bytes())
    return together.digest()
