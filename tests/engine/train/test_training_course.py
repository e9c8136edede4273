"""The short run of the course itself, in the real jail: the figures that the lesson promises."""

import asyncio

import pytest

from app.content.blocks import Grad, Train
from app.course.course import load_lesson
from app.engine.run_setup import setup_of
from app.engine.train.corpus_file import load_examples
from app.engine.train.trainer import Trainer
from app.engine.train.training_run import ReferenceRuns, Training, TrainingSpec
from app.installation import ROOT
from tests.engine.train.load import run


@pytest.fixture(scope="module")
def finished(jail):
    lesson = load_lesson(ROOT / "lessons" / "5-train" / "01-training.md")
    train = next(one for one in lesson.exercises if isinstance(one, Train))
    box = next(one for one in lesson.exercises if isinstance(one, Grad) and one.name == train.uses)
    trainer = Trainer(jail, None)

    async def ask(stretch):
        return await asyncio.to_thread(trainer.run, stretch)

    setup = setup_of(train, lesson.forward(train.forward), train.presets[0])
    rows = {part: len(some) for part, some in load_examples(None, setup.width).items()}
    return run(
        Training(
            TrainingSpec(setup=setup, steps=train.presets[0].steps, code=box.solution.source),
            ask,
            rows,
            "",
            ReferenceRuns(),
        )
    ), train


def test_2000_steps_with_own_gradients_reach_the_promised_loss(finished):
    snapshot, train = finished

    assert snapshot.phase == "finished", snapshot.message
    assert (snapshot.step, snapshot.numbers) == (2000, 4137)
    assert snapshot.points[0].own > 3.0  # the mean of the first 20 steps; a fresh model starts between 3.3 and 4
    for judged in snapshot.judged:
        low, high = train.presets[0].bands.get(judged.part, (0, 9))
        assert low <= judged.own <= high


def test_both_curves_coincide_and_the_seven_gradients_agree(finished):
    snapshot, _ = finished

    assert snapshot.gap < 1e-5
    assert len(snapshot.compared) == 7
    assert all(one.approx for one in snapshot.compared)
    assert [one.step for one in snapshot.sampled] == [0, 200, 2000]
