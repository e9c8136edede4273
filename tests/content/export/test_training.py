"""The training run of an export: the whole of it, with torch and the file alone."""

import re
from pathlib import Path
from symtable import symtable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content.blocks import Grad, Train
from app.course.export import Work, cells_of, written_as
from app.course.parse import parse_lesson
from app.engine import run_setup
from app.engine.train import trainer
from app.kinds.train import export as training_cells
from app.kinds.train.export import TEMPLATES
from tests.courses import ARCHITECTURES, LESSONS, course_in

ROOT = Path(__file__).parents[3]
TRAINED = [(lesson, one) for lesson in course_in(LESSONS).lessons for one in lesson.exercises if isinstance(one, Train)]
LESSON, TRAIN = next(both for both in TRAINED if both[0].slug == "training")
BOX = LESSON.exercise(TRAIN.uses)
assert isinstance(BOX, Grad)
DATA = re.compile(r"[\d,]+ (?:names|rows); [\d,]+ train examples")
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


@pytest.fixture
def said(ran, lesson, train, form):
    """What a run of a solved lesson printed, from its data on."""
    trained = [one for other, one in TRAINED if other is lesson]
    runs = DATA.split(ran[f"{lesson.slug}.solved.{form}"]["printed"])[1:]
    assert len(runs) == len(trained)
    return runs[trained.index(train)]


def losses_in(said):
    return {part: float(loss) for part, loss in LOSS.findall(said)}


each_run = pytest.mark.parametrize(("lesson", "train"), TRAINED, ids=lambda one: getattr(one, "name", ""))


@pytest.mark.parametrize("form", ["ipynb", pytest.param("py", marks=pytest.mark.prove)])
@each_run
def test_right_gradients_train_as_autograds(said, train):
    assert set(losses_in(said)) == {"train", "validation", "test"}
    tenths = TENTH.findall(said)
    assert len(tenths) == 10
    assert all(float(mine) == pytest.approx(float(theirs), abs=1e-3) for mine, theirs in tenths)
    assert float(re.search(r"^largest difference of any step: (.*)$", said, re.MULTILINE)[1]) < 1e-4
    invented = re.findall(r"^[a-z]+$", said[said.index("loss, test") :], re.MULTILINE)
    assert train.table or len(invented) >= 15


def in_its_band(said, train):
    low, high = train.presets[0].bands["train"]
    return low <= losses_in(said)["train"] <= high


@pytest.mark.parametrize(("lesson", "train", "form"), [(LESSON, TRAIN, "ipynb")], ids=["short"])
def test_right_gradients_come_as_far_as_the_course_promises(said, train):
    assert in_its_band(said, train)


@pytest.mark.prove
@pytest.mark.parametrize("form", ["py"])
@each_run
def test_every_run_comes_as_far_as_the_course_promises(said, train):
    assert in_its_band(said, train)


@pytest.mark.parametrize("form", [pytest.param("ipynb", marks=pytest.mark.prove), "py"])
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


RENAMED = {
    "Xb": "contexts", "Yb": "following", "C": "rows", "W1": "learned", "b1": "step", "W2": "losses", "b2": "gradients",
    "bngain": "rate", "bnbias": "dice", "hpreact": "data", "hprebn": "own", "embcat": "last", "emb": "name",
}  # fmt: skip


@pytest.fixture(scope="module")
def called_like_the_loop(run_exports):
    """What a run prints with the tensors of the course, and with tensors that are called like variables of the loop."""

    def renamed(text):
        words = "|".join(sorted(RENAMED, key=len, reverse=True))
        return re.sub(rf"\b(d*)({words})\b", lambda word: word[1] + RENAMED[word[2]], text)

    files = {}
    for name, source, box in (
        ("plain", LESSON.source, BOX.solution.source),
        ("renamed", renamed(LESSON.source), renamed(BOX.solution.source)),
    ):
        lesson, errors = parse_lesson(source, LESSON.path)
        assert not errors
        files[f"{name}.py"] = written_as("py", cells_of(lesson, Work(codes={BOX.name: box}))).replace(*SHORT)
    assert "rows_ = torch.randint" in files["renamed.py"]
    return run_exports(files)


def test_tensors_that_are_called_like_the_loop_train_like_any_others(called_like_the_loop):
    plain, renamed = (called_like_the_loop[f"{name}.py"] for name in ("plain", "renamed"))

    assert not renamed["error"]
    for told in (LOSS, TENTH, re.compile("largest difference of any step: (.*)")):
        assert told.findall(plain["printed"])
        assert told.findall(renamed["printed"]) == told.findall(plain["printed"])


VARIABLES = sorted({name for text in TEMPLATES.values() for name in re.findall(r"\$([a-z]\w*)", text)})


@given(st.sets(st.sampled_from(VARIABLES)), st.booleans())
def test_variables_of_the_exported_loop_shadow_no_written_name(words, twice):
    taken = words | {f"{name}_" for name in words if twice}
    own = "".join(f"{name} = 1\n" for name in sorted(taken))

    cells = list(training_cells.training_cells(LESSON, TRAIN, Work(codes={BOX.name: own})))

    texts = [cell.text for cell in cells if cell.code and cell.name != f"{TRAIN.name}-loop"]
    symbols = [one for text in texts for one in symtable(text, "cell", "exec").get_symbols()]
    ours = {one.get_name() for one in symbols if one.is_assigned()}
    assert len(ours) > 20
    assert not ours & taken


def test_start_and_names_are_those_of_the_course():
    assert (training_cells.SEED, training_cells.SAMPLING) == (run_setup.SEED, trainer.SAMPLING)


def test_the_text_to_read_holds_the_loop_and_no_helpers(exports):
    text = exports[f"{LESSON.slug}.solved.md"]

    loop = text[text.index("steps, n_hidden = 2000, 64") :]
    assert "for step in range(steps):" in loop
    assert "dC.index_add_(0, Xb.view(-1), dembcat.view(-1, n_embd))\n\n    gradients = [dC, dW1" in loop
    assert "backhand_training" not in text


def test_an_exported_run_takes_its_data_along_and_trains_as_autograd(run_exports):
    lesson = course_in(ARCHITECTURES).lesson("own-data")
    codes = {one.name: one.solution.source for one in lesson.exercises if isinstance(one, Grad)}
    texts = {form: written_as(form, cells_of(lesson, Work(codes=codes))) for form in ("ipynb", "py")}

    done = run_exports({f"own.{form}": text for form, text in texts.items()})

    for form in texts:
        said = done[f"own.{form}"]
        assert not said["error"]
        assert "train examples" in said["printed"]
        losses = {part: float(loss) for part, loss in LOSS.findall(said["printed"])}
        assert losses["test"] < 0.02
        assert all(own == reference for own, reference in TENTH.findall(said["printed"]))
        assert [
            approx for _, approx in re.findall(r"^(d\w+) .* (True|False) +\S+$", said["printed"], re.MULTILINE)
        ] == ["True"] * 5
