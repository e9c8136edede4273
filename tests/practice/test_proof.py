"""Before anybody sees an exercise: everything wrong at it is refused, and what it was drawn for can be seen at it."""

import asyncio
import random
from collections import deque
from dataclasses import replace

import pytest

from app.engine.grade import explanation_time
from app.engine.grade.engine import Engine
from app.grading.operations.table import EXERCISES
from app.practice.draw import BANDS, generate_item
from app.practice.item import GeneratedItem
from app.practice.operations import FORKS
from app.practice.proof import Proof, curated_items, drawn_and_proved, prove_item, row_of, wrong_lines
from tests.grading.boxes.load import OpenJail

WANTED = sorted({slip for one in EXERCISES for slip in one.shows} | FORKS)


class Here:
    """Checks in this process; *verdicts* are the last, each with its task."""

    def __init__(self) -> None:
        self._engine = Engine(OpenJail(), None)
        self.verdicts = deque(maxlen=1000)

    async def check(self, task, code):
        verdict = self._engine.check(task, code)
        self.verdicts.append((task, verdict))
        return verdict


@pytest.fixture(scope="module")
def here() -> Here:
    return Here()


def proved(item: GeneratedItem, here: Here) -> Proof:
    return asyncio.run(prove_item(item, here))


@pytest.mark.parametrize("level", BANDS)
def test_a_curated_exercise_is_proved(here: Here, level: int) -> None:
    for item in random.Random(level).sample(curated_items(level), 3 if level < 3 else 1):
        proof = proved(item, here)

        assert proof.kept, proof.reason
        assert proof.one_red >= 0.9 * proof.mutants > 0


@pytest.mark.prove
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("level", BANDS)
def test_all_curated_exercises_are_proved(here: Here, level: int, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a wrong solution is called takes two thirds of the time, and is no part of a proof without a wish."""
    monkeypatch.setattr(explanation_time, "EXPLAINING_SECONDS", 0.0)
    items = curated_items(level)[part::4]

    assert {item.seed: reason for item in items if (reason := proved(item, here).reason)} == {}


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(
    "wanted",
    [
        *("mean", "overwritten", "input-for-output", "scatter-overwrite", "mask-flipped"),
        *(pytest.param(one, marks=pytest.mark.prove) for one in WANTED),
    ],
)
def test_an_exercise_for_a_slip_can_be_found_and_shows_it(here: Here, wanted: str) -> None:
    level = min([one.level for one in EXERCISES if wanted in one.shows], default=2)
    item, _ = asyncio.run(drawn_and_proved(max(level, 1 + (wanted in FORKS)), wanted, here))

    assert item is not None
    names = [name for task, verdict in here.verdicts if task == item.task for name in verdict.names]
    assert any(f"{row_of(name)}:".startswith(f"{wanted}:") for name in names)


def written(program: str, solution: str, by: str) -> GeneratedItem:
    """An exercise that nobody drew."""
    forward = f":dims: {{N: 5, D: 4}}\n:inputs: {{X: [N, D]}}\n:output: y\n{program}"
    return replace(
        generate_item(1, 1), forward=forward, solution=solution, by=tuple(by.split()), operations=("tanh", "sigmoid")
    )


CURVES = "h = torch.tanh(X)\ny = torch.sigmoid(h)\n"


def test_an_exercise_whose_solution_is_wrong_is_not_kept(here: Here) -> None:
    item = written(CURVES, "dh = dy * y * (1 - y)\ndX = dh\n", "sigmoid tanh")

    assert "does not pass" in proved(item, here).reason


def test_an_exercise_with_a_gradient_that_says_nothing_is_not_kept(here: Here) -> None:
    solution = "dh = dy * h\ndh += dy * h\ndX = dh.clone()\ndX += -dh\n"
    item = written("h = X - X\ny = h * h\n", solution, "mul mul sub sub")

    assert "says nothing" in proved(item, here).reason


def test_an_exercise_that_accepts_a_wrong_solution_is_not_kept(here: Here) -> None:
    item = written("h = X.exp()\ny = torch.relu(h)\n", "dh = dy * (h > 0)\ndX = dh * h\n", "relu exp")

    assert "wrong solutions pass" in proved(item, here).reason


def test_an_exercise_that_does_not_show_what_is_wanted_is_not_kept(here: Here) -> None:
    item = written(CURVES, "dh = dy * y * (1 - y)\ndX = dh * (1 - h ** 2)\n", "sigmoid tanh")

    assert proved(item, here).kept
    assert "is named 'keepdim-lost'" in proved(replace(item, wanted="keepdim-lost"), here).reason


def test_slips_with_sentences_are_written_out_from_the_text_alone() -> None:
    item = written(CURVES, "dh = dy * y * (1 - y)\ndX = dh * (1 - h ** 2)\n", "sigmoid tanh")

    found = {(one.line, one.edit): one.code.splitlines()[one.line - 1] for one in wrong_lines(item)}

    assert found[1, "half-rule"].startswith("dh = dy * ")
    assert found[2, "input-for-output"] == "dX = dh * (1 - X ** 2)"
