"""Whole training runs: what right and wrong gradients come to, and every way in which a run may end."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from app.engine.codec import from_json_value, to_json_value
from app.engine.train import training_run as module
from app.engine.train.snapshot import Snapshot, chart_span
from app.engine.train.training_run import Checkpoint, ReferenceRuns, points
from app.engine.training_chunk import ChunkResult
from tests.engine.train.load import BOX, ROWS, SETUP, SOLUTION, open_ask, run, training

MISSING_SHARE = SOLUTION.replace("- dhpreact.sum(0) ", "")
UPHILL = SOLUTION.replace("/ n\ndW2", "/ n * -500\ndW2")


@pytest.fixture(autouse=True)
def long_stretches(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 30.0)


@pytest.fixture(scope="module")
def finished():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 30.0)
        return run(training())


def test_right_gradients_train_as_those_of_autograd_at_every_step(finished):
    assert (finished.phase, finished.step, finished.percent) == ("finished", 60, 100)
    assert finished.coincides, finished.gap
    assert [point.own for point in finished.points] == pytest.approx(
        [point.reference for point in finished.points],
        abs=2e-5,  # both are rounded to 1e-5
    )


def test_a_run_is_judged_on_all_three_parts_of_the_data(finished):
    assert [(one.part, one.rows) for one in finished.judged] == list(ROWS.items())
    for one in finished.judged:
        assert 2 < one.own < 3.4
        assert one.own == pytest.approx(one.reference, abs=1e-5)


def test_the_last_comparison_finds_seven_gradients_equal_up_to_rounding(finished):
    assert [one.name for one in finished.compared] == ["C", "W1", "b1", "bngain", "bnbias", "W2", "b2"]
    for one in finished.compared:
        assert one.approx
        assert one.maxdiff < 1e-6


def test_twenty_names_are_invented(finished):
    for one in finished.sampled:
        assert len(one.names) == 20
        assert all(name.isalpha() or not name for name in one.names)


def test_names_of_the_model_as_it_starts_stand_beside_those_of_the_end(finished):
    assert [one.step for one in finished.sampled] == [0, 60]
    assert finished.sampled[0].names != finished.sampled[1].names


def test_a_wrong_gradient_trains_too_and_is_seen_to_differ():
    result = run(training(MISSING_SHARE))

    assert result.phase == "finished"
    assert result.points[-1].own < result.points[0].own
    assert result.coincides is False
    assert {one.name for one in result.compared if not one.approx} == {"C", "W1", "b1"}


def test_a_run_whose_loss_is_no_number_ends_there():
    result = run(training(UPHILL.replace("-500", "-1e30")))

    assert result.phase == "diverged"
    assert "no longer a number: the steps went too far" in result.message
    assert "a sign, a factor or a division by zero" in result.message
    assert not result.judged


def test_a_gradient_that_is_no_number_is_not_called_a_step_too_far():
    result = run(training(SOLUTION.replace("db2 = ", "db2 = math.nan * ")))

    assert result.phase == "diverged"
    assert "or a gradient has entries that are no numbers" in result.message


def test_a_failure_names_its_line():
    result = run(training(SOLUTION.replace("db2 = ", "db2 = missing + ")))

    assert (result.phase, result.line, result.step) == ("failed", 3, 0)
    assert "missing" in result.message


def test_a_run_ends_after_the_stretch_in_which_it_is_stopped(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 0.0)
    asked = []
    ask = open_ask()

    async def counted(stretch):
        asked.append(stretch)
        if len(asked) == 7:
            one.stop()
        return await ask(stretch)

    one = training(ask=counted)
    result = run(one)

    assert result.phase == "stopped"
    assert 0 < result.step < 60
    assert result.points
    assert len(asked) < 12


def test_what_is_left_of_a_run_is_told_from_its_pace_so_far(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 0.0)
    seen = []
    ask = open_ask()

    async def looked(stretch):
        seen.append(one.snapshot)
        return await ask(stretch)

    one = training(ask=looked)
    run(one)

    told = [each for each in seen if each.phase == "training" and each.seconds_left is not None]
    assert told
    assert [each.seconds_left * each.steps_per_second for each in told] == pytest.approx(
        [60 - each.step for each in told]
    )


def test_names_are_sampled_at_the_milestones_on_the_way(monkeypatch):
    monkeypatch.setattr(module, "MILESTONES", (10, 30, 500))

    result = run(training())

    assert [one.step for one in result.sampled] == [0, 10, 30, 60]


def test_a_run_that_computes_for_too_long_is_judged_as_it_is(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.02)

    result = run(training())

    assert (result.phase, result.capped) == ("finished", True)
    assert 0 < result.step < 60
    assert result.sampled
    assert not result.judged


def test_a_second_run_finds_the_reference_made():
    references = ReferenceRuns()
    asked = []
    ask = open_ask()

    async def counted(stretch):
        asked.append((stretch.part, stretch.code is None))
        return await ask(stretch)

    first = run(training(ask=counted, references=references))
    before = list(asked)
    asked.clear()
    second = run(training(MISSING_SHARE, ask=counted, references=references))

    assert ("steps", True) in before
    assert ("steps", True) not in asked
    assert [one.reference for one in second.judged] == [one.reference for one in first.judged]


def test_only_the_newest_references_are_kept():
    references = ReferenceRuns(capacity=1)
    first = references.of(SETUP, 10)

    assert references.of(SETUP, 10) is first
    references.of(SETUP, 20)
    assert references.of(SETUP, 10) is not first


def test_two_runs_at_once_share_one_reference():
    references = ReferenceRuns()
    asked = []
    ask = open_ask()

    async def slow(stretch):
        asked.append((stretch.part, stretch.code is None))
        await asyncio.sleep(0)
        return await ask(stretch)

    async def both():
        return await asyncio.gather(*(training(ask=slow, references=references).run() for _ in range(2)))

    first, second = asyncio.run(both())

    assert first.phase == second.phase == "finished"
    assert asked.count(("steps", True)) == 1
    assert first.judged == second.judged


@pytest.mark.parametrize(
    "trouble", [ChunkResult(outcome="busy", message="full"), ChunkResult(outcome="fault", message="died")]
)
def test_a_stretch_that_was_lost_is_asked_again(monkeypatch, trouble):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    ask = open_ask()
    troubles = [trouble, trouble]

    async def unlucky(stretch):
        return troubles.pop() if troubles and stretch.part == "steps" else await ask(stretch)

    assert run(training(ask=unlucky)).phase == "finished"


def test_graders_that_stay_busy_end_the_run_with_that_reason(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)

    async def busy(_):
        return ChunkResult(outcome="busy", message="full")

    result = run(training(ask=busy))

    assert (result.phase, result.message) == ("failed", module.FULL)


def test_the_declared_solution_of_the_box_is_what_trains_here():
    assert BOX.solution.source == SOLUTION


def test_points_are_means_over_equal_parts():
    own = np.arange(1000, dtype=np.float32)

    found = points(own, own[:500] + 1, 200_000)

    assert [one.step for one in found] == list(range(10, 1001, 10))
    assert found[0].own == 4.5
    assert (found[49].reference, found[50].reference) == (495.5, None)


def test_losses_that_are_no_numbers_have_no_point():
    own = np.array([1.0, 2.0, np.inf, np.nan], np.float32)

    assert [one.step for one in points(own, own, 100)] == [1, 2]


@pytest.mark.parametrize(
    ("step", "shown"), [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (1_999, 2_000), (2_001, 5_000), (150_000, 200_000)]
)
def test_a_young_run_is_looked_at_up_to_the_next_round_step(step, shown):
    assert chart_span(step, 200_000) == shown


def test_a_snapshot_says_whether_it_still_goes_on():
    one = Snapshot(phase="training", steps=10)

    assert one.live
    assert not replace(one, phase="lost").live
    assert one.coincides is None


def test_a_run_that_another_process_goes_on_with_comes_to_the_same(monkeypatch):
    monkeypatch.setattr("app.engine.train.trainer.CHUNK_SECONDS", 1e-6)  # a stretch of one step or few
    monkeypatch.setattr(module, "MILESTONES", (4,))
    whole, first = training(steps=10), training(steps=10)

    async def stopped_on_the_way(ask):
        async def until(stretch):
            if stretch.part == "steps" and stretch.code is not None and stretch.first >= 6:
                raise ConnectionError
            return await ask(stretch)

        first._grader = until
        with pytest.raises(ConnectionError):
            await first.run()

    expected = run(whole)
    asyncio.run(stopped_on_the_way(open_ask()))
    crossed = from_json_value(Checkpoint, json.loads(json.dumps(to_json_value(first.checkpoint))))
    asked = []

    async def counted(stretch):
        asked.append((stretch.part, stretch.code is None, stretch.first))
        return await open_ask()(stretch)

    second = training(steps=10, ask=counted)
    second.go_on_from(crossed)
    assert (second.snapshot.phase, second.snapshot.step) == ("waiting", 6)
    result = run(second)

    assert min(first for part, _, first in asked if part == "steps") == 6, "nothing is done twice, by either"
    for name in ("phase", "step", "points", "gap", "sampled", "judged", "compared"):
        assert getattr(result, name) == getattr(expected, name), name


def test_a_run_that_was_left_before_its_first_step_begins():
    checkpoint = from_json_value(Checkpoint, json.loads(json.dumps(to_json_value(training().checkpoint))))
    second = training()
    second.go_on_from(checkpoint)

    assert run(second).phase == "finished"


def test_where_others_were_is_no_step_back_for_what_is_shared():
    references = ReferenceRuns()
    run(training(references=references))
    early = training()

    one = training(references=references)
    one.go_on_from(early.checkpoint)

    assert run(one).coincides


def test_a_halt_of_a_longer_run_is_refused():
    longer = training(steps=61)
    run(longer)

    with pytest.raises(ValueError, match="broadcast"):
        training().go_on_from(longer.checkpoint)
