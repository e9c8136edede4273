"""Stretches in the real jail: what they answer, and that nothing a submission does stops the next one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from app.engine.codec import from_json_value, to_json_value
from app.engine.run_setup import setup_of
from app.engine.train.trainer import Trainer
from app.engine.training_chunk import ChunkResult, EncodedTensor, TrainingChunk, array_of, numbers_of
from tests.engine.train.load import FORWARD, SETUP, SOLUTION, TRAIN, long_list
from tests.grading.boxes.load import OpenJail
from tests.waiting import SECONDS


@pytest.fixture(scope="module")
def trainer(jail):
    return Trainer(jail, None)


@pytest.fixture(scope="module")
def fresh(trainer):
    return trainer.run(TrainingChunk(setup=SETUP, part="start")).state


def steps(fresh, code, **changes):
    return replace(TrainingChunk(setup=SETUP, part="steps", code=code, state=fresh, stop=20, half=10), **changes)


def test_a_stretch_in_the_jail_is_the_same_as_outside_of_it(monkeypatch, trainer, fresh):
    for limit in ("CHUNK_SECONDS", "LONGEST_SECONDS"):
        monkeypatch.setattr(f"app.engine.train.trainer.{limit}", SECONDS)
    question = steps(fresh, SOLUTION)

    inside, outside = (one.run(question) for one in (trainer, Trainer(OpenJail(), None)))

    assert inside.outcome == "graded", inside
    assert len(array_of(inside.state["losses"])) == 20
    assert np.allclose(array_of(inside.state["losses"]), array_of(outside.state["losses"]), rtol=0, atol=1e-6)


def test_questions_and_answers_cross_as_json(trainer, fresh):
    question = steps(fresh, SOLUTION)
    answer = trainer.run(question)

    assert from_json_value(TrainingChunk, json.loads(json.dumps(to_json_value(question)))) == question
    assert from_json_value(ChunkResult, json.loads(json.dumps(to_json_value(answer)))) == answer


@pytest.mark.parametrize(
    ("code", "outcome", "line", "said"),
    [
        ("import os", "refused", 1, "import"),
        (SOLUTION + "loss.backward()", "refused", 11, "backward"),
        ("dW2 = ____", "error", 1, "A blank is still to be filled in."),
        (SOLUTION.replace("db1 = dhprebn.sum(0)", "db1 = dhprebn.sum(1)"), "error", None, "`db1` has the shape (32,)"),
        (SOLUTION.replace("h.T @", "h @"), "error", 2, "`h` (32, 10) and `dlogits` (32, 27)"),
        ("while True:\n    pass", "timeout", None, "stopped after 1 s"),
        ("a = [torch.ones(1000000) for _ in range(10000)]", "memory", None, "memory"),
        ("", "error", None, "No tensor called `dC` was left in scope."),
    ],
)
def test_code_that_cannot_train_is_told_why_and_the_next_one_trains(
    monkeypatch, trainer, fresh, code, outcome, line, said
):
    monkeypatch.setattr("app.engine.train.trainer.LONGEST_SECONDS", 1.0 if outcome == "timeout" else 20.0)

    answer = trainer.run(steps(fresh, code))

    assert (answer.outcome, answer.line) == (outcome, line), answer
    assert said in answer.message
    assert trainer.run(steps(fresh, SOLUTION)).outcome == "graded"


def test_bent_parameters_of_the_learners_own_process_do_not_come_back(trainer, fresh):
    answer = trainer.run(steps(fresh, SOLUTION + "C.resize_(5)\n"), gate=False)

    assert answer.outcome != "graded"
    assert "p/C" not in answer.state or array_of(answer.state["p/C"]).shape == (27, 4)


def test_a_program_that_cannot_be_read_is_told_in_a_sentence():
    twice = replace(FORWARD, source=f"{FORWARD.source}\n{FORWARD.output} = 1")

    answer = Trainer(OpenJail(), None).run(TrainingChunk(setup=replace(SETUP, forward=twice), part="start"))

    assert answer.outcome == "fault"
    assert answer.message.startswith(f"The run could not begin: `{FORWARD.output}` is written twice; give")


def test_names_that_cannot_be_read_are_our_fault_with_the_reason(tmp_path, fresh):
    answer = Trainer(OpenJail(), tmp_path / "nothing.txt").run(steps(fresh, SOLUTION))

    assert answer.outcome == "fault"
    assert "nothing.txt cannot be read" in answer.message


def test_the_wide_network_fits_into_the_jail_with_the_whole_list(trainer, tmp_path):
    wide = setup_of(TRAIN, FORWARD, replace(TRAIN.presets[0], dims={"n_hidden": 1024}))
    large = Trainer(trainer._jail, long_list(tmp_path))
    parameters = {
        key: one for key, one in large.run(TrainingChunk(setup=wide, part="start")).state.items() if key != "g"
    }

    answer = large.run(TrainingChunk(setup=wide, part="calibrate", state=parameters, first=0, stop=32_768))

    assert answer.outcome == "graded", answer


@pytest.mark.parametrize(
    "numbers",
    [
        EncodedTensor(dtype="float32", shape=(2,), base64="AAAA"),
        EncodedTensor(dtype="object", shape=(1,), base64="AAAAAAAAAAA="),
        EncodedTensor(dtype="float32", shape=(1,), base64="not base64!"),
        EncodedTensor(dtype="float32", shape=(-1,), base64="AAAAAA=="),
    ],
)
def test_bytes_that_are_not_their_tensor_are_refused(numbers):
    with pytest.raises(ValueError, match=r"not the numbers|base64|padding|character"):
        array_of(numbers)


@pytest.mark.parametrize("array", [np.float32(3.5), np.zeros((0, 4), np.uint8), np.arange(6.0).reshape(2, 3).T])
def test_a_tensor_comes_back_as_it_went(array):
    array = np.asarray(array)

    assert np.array_equal(array_of(numbers_of(array)), array)
