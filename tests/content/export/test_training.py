"""The training run of an export: the whole of it, with torch and the file alone."""

import re
from pathlib import Path

import pytest

from app.content.blocks import Grad, Train
from app.content.course import load_course
from app.content.export import Work, cells_of, training_cells, written_as
from app.engine import run_setup
from app.engine.train import trainer

ROOT = Path(__file__).parents[3]
LESSON, TRAIN = next(
    (lesson, one)
    for lesson in load_course(ROOT / "lessons").lessons
    for one in lesson.exercises
    if isinstance(one, Train)
)
BOX = LESSON.exercise(TRAIN.uses)
assert isinstance(BOX, Grad)
LOSS = re.compile(r"^loss, (\w+): ([\d.]+)$", re.MULTILINE)
TENTH = re.compile(r"^ *[\d,]+ –  *[\d,]+  +(not yet|[\d.]+)  +([\d.]+)$", re.MULTILINE)
SHORT = ("steps, n_hidden = 2000, 64", "steps, n_hidden = 30, 8")
OWN = {
    "a wrong shape": (
        BOX.solution.source.replace("dhpreact.sum(0, keepdim=True)", "dhpreact.sum(0)"),
        "`dbnbias` is (8,); it should have the shape (1, 8).",
    ),
    "a missing gradient": (BOX.solution.source.replace("db1 =", "db ="), "Not yet: `db1` is still a blank."),
    "one blank": (BOX.solution.source.replace("h.T @ dlogits", "____"), "Not yet: `dW2` is still a blank."),
    "no python": (BOX.solution.source + "x = = 1", "Not yet: `dC` is still a blank."),
    "an error": (
        BOX.solution.source.replace("h.T @", "h @"),
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied",
    ),
}


@pytest.fixture(scope="module")
def own(run_exports):
    """What a notebook printed, by the name of what was written in its box; with few names and few steps."""
    files = {
        f"{name}.ipynb": written_as("ipynb", cells_of(LESSON, Work(codes={BOX.name: text}))).replace(*SHORT)
        for name, (text, _) in {**OWN, "right": (BOX.solution.source, "")}.items()
    }
    return run_exports(files)


@pytest.mark.parametrize("form", ["ipynb", "py"])
def test_right_gradients_train_as_autograds_and_as_the_course_promises(ran, form):
    said = ran[f"{LESSON.slug}.solved.{form}"]["printed"]

    losses = {part: float(loss) for part, loss in LOSS.findall(said)}
    low, high = TRAIN.presets[0].bands["train"]
    assert low <= losses["train"] <= high
    assert set(losses) == {"train", "validation", "test"}
    tenths = TENTH.findall(said)
    assert len(tenths) == 10
    assert all(float(mine) == pytest.approx(float(theirs), abs=1e-3) for mine, theirs in tenths)
    assert float(re.search(r"^largest difference of any step: (.*)$", said, re.MULTILINE)[1]) < 1e-4
    assert "5,163 names; 28,892 train examples" in said
    between = said[said.index("loss, test") :]
    assert len(re.findall(r"^[a-z]+$", between, re.MULTILINE)) >= 15


@pytest.mark.parametrize("form", ["ipynb", "py"])
def test_with_blanks_it_says_what_to_fill_in_and_goes_on(ran, form):
    said = ran[f"{LESSON.slug}.blank.{form}"]["printed"]

    assert "Not yet: `dC` is still a blank. Write your lines in the place of ____ in this cell" in said
    assert {mine for mine, _ in TENTH.findall(said)} == {"not yet"}
    assert len(LOSS.findall(said)) == 3


@pytest.mark.parametrize("name", OWN)
def test_what_cannot_train_is_told_in_words(own, name):
    done = own[f"{name}.ipynb"]

    assert not done["error"]
    assert OWN[name][1] in done["printed"]
    assert len(LOSS.findall(done["printed"])) == 3


def test_without_the_courses_names_a_few_common_ones_are_used(own):
    done = own["right.ipynb"]

    assert not done["error"]
    assert re.search(r"^\d\d\d names; ", done["printed"], re.MULTILINE)
    assert "largest difference of any step" in done["printed"]


def test_start_and_names_are_those_of_the_course():
    assert (training_cells.SEED, training_cells.SAMPLING) == (run_setup.SEED, trainer.SAMPLING)


def test_the_text_to_read_holds_the_loop_and_no_helpers(exports):
    text = exports[f"{LESSON.slug}.solved.md"]

    loop = text[text.index("steps, n_hidden = 2000, 64") :]
    assert "for step in range(steps):" in loop
    assert "dC.index_add_(0, Xb.view(-1), dembcat.view(-1, n_embd))\n\n    gradients = [dC, dW1" in loop
    assert "training.ready" not in text
    assert "training.loop" not in text
