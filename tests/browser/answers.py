"""What to answer, read from the lesson itself: a lesson may change without a change here."""

import shutil
from itertools import combinations
from pathlib import Path

from app.content.blocks import Lesson, Quiz
from app.content.text.arithmetic import number_of
from app.grading.forward.facts import Shape
from app.grading.reading.shape_inference import infer_shapes
from app.kinds.axes.block import AxesQuestion
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.matmul.mark import operands_offered
from app.kinds.number.block import NumberQuestion
from app.kinds.registry import mark_quiz
from app.kinds.shape.block import ShapeQuestion as ShapeQuiz
from tests.courses import ARCHITECTURES, course_in

ROOT = Path(__file__).resolve().parents[2]
LESSONS = Path(__file__).resolve().parent / "course"
"""The course of the repository, and a lesson with a question of every kind."""
SLUG = "from-scalars-to-tensors"
ADDRESS = f"/lessons/{SLUG}"
EACH_KIND = ROOT / "tests/web/course/1-layers"
"""Lessons with programs as instructors write them."""
SMALL_SLUG = "linear"
SMALL_ADDRESS = f"/lessons/{SMALL_SLUG}"
"""A page with one exercise of each kind, which is opened in a fifth of the time of a lesson of the course."""


def served(folder: Path) -> Path:
    """The course and the small lesson after it, copied into *folder*."""
    shutil.copytree(LESSONS, folder)
    small = folder / "10-each-kind"
    small.mkdir()
    for name in ("unit.md", f"01-{SMALL_SLUG}.md"):
        shutil.copy(EACH_KIND / name, small)
    shutil.copytree(EACH_KIND.parents[1] / "held/1-held", folder / "11-held")
    shutil.copytree(ARCHITECTURES / "1-architectures", folder / "12-architectures")
    return folder


def read_lesson(slug: str = SLUG) -> Lesson:
    courses = (EACH_KIND.parent if slug == SMALL_SLUG else LESSONS, ARCHITECTURES)
    lesson = next((found for one in courses if (found := course_in(one).lesson(slug))), None)
    assert lesson is not None
    return lesson


def shapes_of(lesson: Lesson, quiz: Quiz) -> dict[str, Shape]:
    name = getattr(quiz, "forward", None)
    forward = lesson.forward(name) if name else None
    return infer_shapes(forward) if forward else {}


def right_answer(lesson: Lesson, quiz: Quiz) -> list[str]:
    """Values as the controls of *quiz* have them; a product as `X.T`, `dY`."""
    answer = next(one for one in _candidates(lesson, quiz) if _is_right(lesson, quiz, one))
    return list(answer)


def wrong_answer(lesson: Lesson, quiz: Quiz) -> list[str]:
    """One that learners are tempted by, where the lesson names one."""
    tempting = (
        [[one.value] for one in getattr(quiz, "tempting", ())]
        if not isinstance(quiz, MatmulQuestion | AxesQuestion)
        else []
    )
    options = [*tempting, *_candidates(lesson, quiz)]
    return next(one for one in options if one and not _is_right(lesson, quiz, one))


def _is_right(lesson: Lesson, quiz: Quiz, answer: list[str]) -> bool:
    name = getattr(quiz, "forward", None)
    return mark_quiz(quiz, answer, shapes_of(lesson, quiz), lesson.forward(name) if name else None).correct is True


def _candidates(lesson: Lesson, quiz: Quiz) -> list[list[str]]:
    shapes = shapes_of(lesson, quiz)
    match quiz:
        case NumberQuestion():
            value = number_of(quiz.answer, quiz.given)
            return [[f"{value:.{places}f}"] for places in (3, 0, 6)]
        case ShapeQuiz():
            of = (quiz.of or "").removeprefix("d")
            return [[quiz.answer or ""], [str(shapes.get(of, ()))], [str(shapes.get(quiz.of or "", ()))]]
        case ChoiceQuestion():
            right = [str(index) for index, option in enumerate(quiz.options) if option.right]
            wrong = [str(index) for index, option in enumerate(quiz.options) if not option.right]
            return [right, wrong[:1]]
        case AxesQuestion():
            count = len(shapes.get(quiz.source) or shapes[quiz.source.removeprefix("d")])
            numbers = [str(axis) for axis in range(count)]
            return [list(some) for size in range(1, count + 1) for some in combinations(numbers, size)]
        case MatmulQuestion():
            names = [one.name for one in operands_offered(quiz, shapes, lesson.forward(quiz.forward))]
            factors = [turned for name in names for turned in (name, f"{name}.T")]
            return [[left, right] for left in factors for right in factors]
