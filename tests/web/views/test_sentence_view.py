"""What is shown of a text that many came to, and the block that says a sentence in the lesson."""

from pathlib import Path

import pytest

from app.content.blocks import Grad, Lesson
from app.course.parse import parse_lesson
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.store.written_sentences import MistakenText
from app.web.views.sentence_view import example_of, gradient_of, mistake_block, plain_code, with_block
from tests.courses import course_in
from tests.grading.boxes.load import OpenJail

COURSE = Path(__file__).resolve().parents[1] / "course"
SAID = "Of `cos` nothing comes back here."


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return course_in(COURSE).at["linear"]


@pytest.fixture(scope="module")
def box(lesson: Lesson) -> Grad:
    found = lesson.named["linear-backward"]
    assert isinstance(found, Grad)
    return found


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("mine = dY  # Ada\ndX = mine @ W.T", "h1 = dY\ndX = h1 @ W.T"),
        ("'by Ada'\nprint('Ada')\ndb = dY.sum(0)", "db = dY.sum(0)"),
        (
            "def ada(t, *, u=1): return t * u\ndW = ada(dY, u=2)",
            "def h1(h2, *, h3=1):\n    return h2 * h3\ndW = h1(dY, h3=2)",
        ),
        ("for ada in range(N): dX[ada] = torch.sin(dY[ada])", "for h1 in range(N):\n    dX[h1] = torch.sin(dY[h1])"),
        ("dX = (", ""),
        ("x" * 3 + "\0", ""),
    ],
)
def test_a_text_is_shown_without_anything_of_who_wrote_it(lesson: Lesson, box: Grad, text: str, plain: str) -> None:
    assert plain_code(lesson, box, text) == plain


def test_the_text_in_which_least_else_is_wrong_is_shown(lesson: Lesson, box: Grad) -> None:
    def verdict(*wrong: str) -> str:
        names = ",".join(f'{{"name":"{name}","verdict":"wrong"}}' for name in wrong)
        return f'{{"outcome":"graded","names":[{names}]}}'

    texts = [
        MistakenText(1, "dX = 1", verdict("dX", "dW")),
        MistakenText(2, "dX = dY.cos() + 1000", verdict("dX")),
        MistakenText(3, "dX = (", verdict("dX")),
        MistakenText(4, "dX = dY.cos()", verdict("dX")),
    ]

    assert example_of(lesson, box, texts) == "dX = dY.cos()"
    assert example_of(lesson, box, []) == ""


@pytest.mark.parametrize(
    ("mistake", "name"),
    [("dX:unrecognised:3a", "dX"), ("dX:unrecognised", ""), ("dX:mean:3a", ""), ("dQ:unrecognised:3a", ""), ("", "")],
)
def test_only_a_key_of_numbers_is_about_a_gradient_that_has_none(box: Grad, mistake: str, name: str) -> None:
    assert gradient_of(box, mistake) == name


def test_the_block_makes_the_lesson_say_the_sentence_by_itself(box: Grad) -> None:
    path = Path(box.place.path)
    example = "dX = dY.cos() @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"
    changed = with_block(path.read_text("utf-8"), box, mistake_block(SAID, example))

    lesson, faults = parse_lesson(changed, str(path))

    assert lesson is not None
    assert list(faults) == []
    written_otherwise = example.replace("dY.cos() @ W.T", "(1 * dY.cos()) @ W.t()")
    verdict = Engine(OpenJail(), None).check(task_of(lesson, lesson.named[box.name]), written_otherwise)
    assert [row.message for row in verdict.names if row.name == "dX"] == [SAID]
