"""A run on a table of the lesson's own, with a loss that is no cross-entropy and nothing to sample."""

import asyncio

from app.content.blocks import Grad, Train
from app.engine.codec import from_json, to_json
from app.engine.run_setup import Setup, setup_of
from app.engine.train.corpus_file import examples_for
from app.engine.train.training_run import ReferenceRuns, Training, TrainingSpec
from tests.courses import ARCHITECTURES, course_in
from tests.engine.train.load import open_ask

LESSON = course_in(ARCHITECTURES).at["own-data"]
TRAIN = next(one for one in LESSON.exercises if isinstance(one, Train))
BOX = next(one for one in LESSON.exercises if isinstance(one, Grad))
SETUP = setup_of(TRAIN, LESSON.forwards["line"], TRAIN.presets[0])


def test_a_table_is_divided_and_every_row_stands_in_one_part():
    examples = examples_for(SETUP, None)

    assert {part: len(one) for part, one in examples.items()} == {"train": 96, "validation": 12, "test": 12}
    rows = [tuple(row) for one in examples.values() for row in one.contexts.tolist()]
    assert len(set(rows)) == 120
    assert [one.name for one in SETUP.parameters] == ["w", "b"]


def test_own_gradients_fit_a_line_as_autograds_do():
    rows = {part: len(one) for part, one in examples_for(SETUP, None).items()}
    run = Training(
        TrainingSpec(setup=SETUP, steps=300, code=BOX.solution.source), open_ask(), rows, "prices.csv", ReferenceRuns()
    )

    ended = asyncio.run(run.run())

    assert (ended.phase, ended.message, ended.coincides) == ("finished", "", True)
    assert ended.sampled == ()
    assert {one.part: one.own < 0.02 for one in ended.judged} == {"train": True, "validation": True, "test": True}


def test_a_setup_with_a_table_crosses_to_a_grader_and_back():
    assert from_json(Setup, to_json(SETUP)) == SETUP
