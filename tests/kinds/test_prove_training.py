"""What `check` says of training runs."""

import asyncio
from dataclasses import replace

import pytest

from app.check.proof_setup import ProofSetup
from app.content.blocks import Grad, Train
from app.kinds.train.prove import prove_training
from tests.engine.train.load import COURSE, SOLUTION, open_ask

LESSON = COURSE.lessons[0]


class Trains:
    """A grader that is asked for nothing but training."""

    def __init__(self):
        self.train = open_ask()


@pytest.fixture(autouse=True)
def long_stretches(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 30.0)


def proved(*blocks):
    lesson = replace(LESSON, blocks=tuple(blocks))
    setup = ProofSetup(grader=Trains(), lessons=[lesson])
    trains = [one for one in lesson.exercises if isinstance(one, Train)]
    return [finding for one in trains for finding in asyncio.run(prove_training(lesson, one, setup))]


def changed(kind, change):
    return [change(one) if isinstance(one, kind) else one for one in LESSON.blocks]


def with_solution(code):
    return changed(Grad, lambda box: replace(box, solution=replace(box.solution, source=code)))


def test_a_sound_run_has_no_findings():
    assert proved(*LESSON.blocks) == []


@pytest.mark.parametrize(
    ("code", "finding", "said"),
    [
        (SOLUTION.replace("- dhpreact.sum(0) ", ""), "training-differs", "The run 'short' differs from autograd's by"),
        (SOLUTION.replace("h.T @", "h @"), "training-fails", "fails at step 0 in line 2 of the solution: These shapes"),
        (SOLUTION.replace("/ n\n", "* 1e30\n"), "training-fails", "the loss is no longer a number"),
    ],
)
def test_a_solution_that_does_not_train_is_found_for_every_size(code, finding, said):
    found = proved(*with_solution(code))

    assert [(one.level, one.code) for one in found] == [("error", finding)] * 2
    assert said in found[0].message
    assert found[0].place.line > 1


def test_statistics_that_cannot_be_calibrated_are_found():
    found = proved(*changed(Train, lambda train: replace(train, mean="embcat", variance="h")))

    assert [one.code for one in found] == ["training-fails"] * 2


def test_a_box_that_was_not_read_is_told_as_not_proved():
    found = proved(*changed(Train, lambda train: replace(train, uses="elsewhere#box")))

    assert [(one.level, one.code) for one in found] == [("notice", "not-proved")]


def test_names_that_cannot_be_read_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("BACKHAND_NAMES", str(tmp_path / "nothing.txt"))

    found = proved(*LESSON.blocks)

    assert {one.code for one in found} == {"not-proved"}
    assert "nothing.txt cannot be read" in found[0].message
