"""Exports run anywhere with torch, and say of right code that it is right."""

import re
from pathlib import Path

import pytest

from app.content.blocks import Bug, Checker, FunctionBox, Grad, Train
from app.content.program.training_sources import parameters_of
from app.course.course import load_lesson
from app.course.export import Work, cells_of, written_as
from app.course.parse import parse_lesson
from tests.courses import LESSONS as COURSE
from tests.courses import course_in
from tests.turns import EXPORTS

FIXTURES = Path(__file__).parents[1] / "fixtures" / "good"
LESSONS = [
    *course_in(COURSE).lessons,
    *(load_lesson(path) for path in sorted(FIXTURES.glob("*.md"))),
]
GRADIENT = re.compile(r"^(d\w+) +(?:\([\d, ]*\) +(True|False) +(True|False) +\S+|.*)$", re.MULTILINE)
CASE = re.compile(r"^ +\d+  (?:True|False) +(\S.*)$", re.MULTILINE)
RESULT = re.compile(r"^case \d+: ", re.MULTILINE)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)


def compared_in(lesson, exercise):
    """The gradients that an exercise lays beside those of autograd."""
    match exercise:
        case Grad() | Bug():
            return exercise.require
        case Train():
            return [f"d{name}" for name in parameters_of(lesson.forward(exercise.forward))]
        case _:
            return []


@pytest.mark.in_turn(turns=8, places=EXPORTS)
@each_lesson
@pytest.mark.parametrize("form", ["ipynb", pytest.param("py", marks=pytest.mark.prove)])
def test_every_row_agrees_with_autograd_where_the_solutions_are_in(lesson, form, ran):
    names = [name for one in lesson.exercises for name in compared_in(lesson, one)]
    cases = [sum(len(box.cases) for box in lesson.all_of(kind)) for kind in (Checker, FunctionBox)]

    done = ran[f"{lesson.slug}.solved.{form}"]

    assert not done["error"]
    rows = GRADIENT.findall(done["printed"])
    assert [name for name, _, _ in rows] == names
    assert {approx for _, _, approx in rows} <= {"True"}
    tried = CASE.findall(done["printed"])
    assert [len(tried), len(RESULT.findall(done["printed"]))] == cases
    assert all(said.endswith("True") for said in tried)


@pytest.mark.in_turn(turns=8, places=EXPORTS)
@each_lesson
@pytest.mark.parametrize("form", [pytest.param("ipynb", marks=pytest.mark.prove), "py"])
def test_blanks_run_from_top_to_bottom(lesson, form, ran):
    starters = {name: box.starter.source for box in lesson.exercises if isinstance(box, Grad) for name in box.require}

    done = ran[f"{lesson.slug}.blank.{form}"]

    assert not done["error"]
    left = {name for name, source in starters.items() if re.search(rf"^{name} = ____$", source, re.MULTILINE)}
    said = {match[1]: match[0] for match in GRADIENT.finditer(done["printed"]) if match[1] in left}
    assert any("not yet" in row for row in said.values()) == bool(left)


OWN = {
    "no python": ("dX = dY @ W.T\ndW = = 3\n", "dX not yet"),
    "a slip": ("dX = dY @ W.T\ndW = -X.T @ dY\n", "dX True", "dW False", "db not yet"),
    "an error": ("dX = dY @ W.T\ndW = X @ dY\ndb = 1\n", "line 3: RuntimeError", "dX True", "dW not yet", "db not yet"),
    "a text of several lines": ('dX = dY @ W.T\nnote = """one\ntwo"""\n', "dX not yet"),
    "a blank in a method": (
        "dX = dY @ W.T\ndW = X.____ @ dY\n",
        "line 3: a blank is left here",
        "dX True",
        "dW not yet",
    ),
    "a blank as an argument": ("db = dY.sum(____)\ndX = dY @ W.T\n", "db not yet", "dX True"),
    "a blank in one entry": ("db = dY.sum(0)\ndb[0] = ____\ndX = dY @ W.T\n", "db not yet", "dX True"),
    "a buffer that nothing was written into": ("dW = torch.zeros_like(W)\n____\n", "dW not yet: still all zeros"),
    "a number": ("dW = 3\n", "dW has the shape ()"),
    "a lost axis": ("db = dY.sum(0, keepdim=True)\n", "db has the shape"),
    "a return": ("dX = dY @ W.T\nreturn dX\n", "dX not yet"),
    "nothing": ("", "dX not yet"),
    "a comment": ("# later", "dX not yet"),
    "no number": ("dX = dY @ W.T * math.nan\ndX[0] = 1\n", "dX False"),
}


@pytest.fixture(scope="module")
def box():
    """A lesson with one box, twice: what is written in the first must not reach the second."""
    text = (FIXTURES / "07-linear-layer.md").read_text("utf-8")
    lesson, _ = parse_lesson(text, "07-linear-layer.md")
    assert lesson is not None
    return lesson


@pytest.fixture(scope="module")
def own(box, run_exports):
    (grad,) = (one for one in box.exercises if isinstance(one, Grad))
    files = {}
    for name, (text, *_) in OWN.items():
        files[f"{name}.ipynb"] = written_as("ipynb", cells_of(box, Work(codes={grad.name: text})))
    return run_exports(files)


@pytest.mark.parametrize("name", OWN)
def test_own_code_is_compared_whatever_it_is(name, own):
    done = own[f"{name}.ipynb"]

    assert not done["error"]
    rows = [" ".join(line.split()) for line in done["printed"].splitlines()]
    for expected in OWN[name][1:]:
        first, _, rest = expected.partition(" ")
        found = [row for row in rows if row.startswith(f"{first} ")]
        assert found, rows
        if rest in ("True", "False"):
            assert found[0].split()[-2] == rest
        else:
            assert found[0].startswith(expected)
