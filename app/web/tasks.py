"""What the graders know of a course: code boxes as tasks, and the shapes of forward programs' tensors.

A verdict is found again under a key of the task, the text and the sources of everything that judges it: after an update
of either, the same text is graded again.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from app.content.blocks import CodeBox, Course, Lesson
from app.engine.codec import plain
from app.engine.task import AnyTask, task_of

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
