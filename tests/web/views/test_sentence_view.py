"""What is shown of a text that many came to, and the block that says a sentence in the lesson."""

from pathlib import Path

import pytest

from app.content.blocks import Bug, FunctionBox, Grad, Lesson
from app.content.text.mathml import words_of
from app.course.parse import parse_lesson
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.grading.judge.hunt_verdict import with_line
from app.store.written_sentences import MistakenText
from app.web.views.items_view import mistake_words
from app.web.views.sentence_blocks import lesson_block, mistake_block, plain_code, with_block
from app.web.views.sentence_view import example_of, known_example, subject_of
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
    assert subject_of(box, mistake) == name


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


HUNTS = Path(__file__).resolve().parents[1] / "hunts"
FUNCTIONS = Path(__file__).resolve().parents[2] / "engine" / "functions.md"


@pytest.fixture(scope="module")
def hunts() -> Lesson:
    return course_in(HUNTS).at["hunts"]


@pytest.mark.parametrize(
    ("mistake", "subject"),
    [
        ("line:innocent:1", "line 1"),
        ("line:innocent:3", ""),
        ("line:innocent:9", ""),
        ("line:innocent", ""),
        ("line:innocent:x", ""),
        ("db:unrecognised:3a", "db"),
        ("case-1:differs:3a", ""),
    ],
)
def test_a_hunt_has_suspected_lines_and_gradients(hunts: Lesson, mistake: str, subject: str) -> None:
    assert subject_of(hunts.named["find"], mistake) == subject


@pytest.mark.parametrize(
    ("mistake", "mend", "innocent"),
    [("line:innocent:2", "", 2), ("db:unrecognised:3a", "db = dY.cos().sum(0)", None)],
)
def test_the_block_of_a_hunt_is_one_line(hunts: Lesson, mistake: str, mend: str, innocent: int | None) -> None:
    bug = hunts.named["find"]
    assert isinstance(bug, Bug)
    plain = bug.starter.source.replace("db = (\n    dY.mean(0)\n)", mend or "db = dY.sum(0)")
    example = known_example(bug, mistake) or plain_code(hunts, bug, with_line(plain, 1))
    path = Path(bug.place.path)
    text = path.read_text("utf-8").replace(
        "```{mistake} This is the product that gives `W` its shape.\n", "```{mistake} Old\n"
    )
    unsaid = text.replace("```{mistake} Old\ndW = X.T @ dY\n```\n", "")

    changed, faults = parse_lesson(with_block(unsaid, bug, lesson_block(bug, mistake, SAID, example)), str(path))

    assert changed is not None, faults
    again = changed.named["find"]
    assert isinstance(again, Bug)
    assert [one.line for one in again.innocent if one.message == SAID] == ([innocent] if innocent else [])
    assert [one.message for one in again.mistakes] == ([] if innocent else [SAID])


def test_a_mend_of_several_lines_has_no_block(hunts: Lesson) -> None:
    bug = hunts.named["find"]
    example = with_line("dW = X.T @ dY\ndb = 1\ndb = dY * 2", 3)

    assert lesson_block(bug, "db:unrecognised:3a", SAID, example) == ""


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "def unbroadcast(g, shape):\n    ada = g  # Ada\n    return also(ada)\n\ndef also(bob):\n    return bob",
            "def unbroadcast(g, shape):\n    h1 = g\n    return h2(h1)\n\ndef h2(h3):\n    return h3",
        ),
        (
            "class Ada:\n    def go(self, x):\n        mine = x\n        return mine\n\nada = Ada().go(x=1)",
            "class Ada:\n\n    def go(self, x):\n        h1 = x\n        return h1\nh2 = Ada().go(x=1)",
        ),
    ],
)
def test_what_cases_call_keeps_its_name(text: str, plain: str) -> None:
    functions, _ = parse_lesson(FUNCTIONS.read_text("utf-8"), FUNCTIONS.name)
    assert functions is not None
    box = functions.named["unbroadcast"]
    assert isinstance(box, FunctionBox)

    assert plain_code(functions, box, text) == plain
    assert subject_of(box, "case-2:differs:3a") == "case 2"
    assert subject_of(box, "case-9:differs:3a") == ""


def test_mistakes_of_hunts_and_functions_are_told_in_words(hunts: Lesson) -> None:
    functions, _ = parse_lesson(FUNCTIONS.read_text("utf-8"), FUNCTIONS.name)
    assert functions is not None
    told = [
        mistake_words(hunts, hunts.named["find"], "line:innocent:1"),
        mistake_words(functions, functions.named["unbroadcast"], "case-2:differs:3a"),
    ]

    assert [words_of(each) for each in told] == [
        "line 1: suspected, and right as it stands",
        "case 2: another value",
    ]
