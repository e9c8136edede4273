"""A submission goes in, a verdict comes out: every box of the course, and every way to end."""

from dataclasses import replace

import pytest

from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import BOXES, MORE, NETWORK

EVERY = pytest.mark.parametrize("box", [*BOXES, *MORE, NETWORK], ids=lambda box: box.name)


@pytest.mark.in_turn(turns=4)
@EVERY
def test_the_reference_solution_of_every_box_is_right(engine, box):
    verdict = engine.check(box.task(grade="value"), box.solution)

    assert verdict.outcome == "graded", verdict
    assert verdict.passed, verdict
    assert all(one.verdict in RIGHT and one.approx for one in verdict.names), verdict


@pytest.mark.parametrize(
    "box", [one for one in [*BOXES, *MORE, NETWORK] if one.name != "L17.c2"], ids=lambda box: box.name
)
def test_solutions_that_follow_the_rule_are_told_no_other_road(engine, box):
    verdict = engine.check(box.task(grade="rule"), box.solution)

    assert {one.name: one.verdict for one in verdict.names} == dict.fromkeys(box.require, "right"), verdict


def test_a_fused_formula_is_another_road_and_no_rule(engine):
    box = next(one for one in BOXES if one.name == "L17.c2")
    steps = "dlp = -q / z.shape[0]\ndz = dlp - torch.softmax(z, 1) * dlp.sum(1, keepdim=True)"
    by_steps = replace(box, solution=steps)

    by_value = engine.check(by_steps.task(grade="value"), box.solution)
    by_rule = engine.check(by_steps.task(grade="rule", one_road="Each step is asked for."), box.solution)

    assert by_value.passed
    assert [one.verdict for one in by_value.names] == ["right", "right-other-road"]
    assert not by_rule.passed
    assert by_rule.names[1].code == "dz:other-road"
    assert by_rule.names[1].message.endswith(" on its own. Each step is asked for.")


def test_an_overlooked_failure_is_logged_and_told_as_our_fault(engine, monkeypatch, caplog):
    monkeypatch.setattr(engine, "_ran", lambda *_: 1 / 0)

    assert engine.run(NETWORK.task(), NETWORK.solution).outcome == "fault"
    assert [(one.message, one.exc_info[0]) for one in caplog.records] == [
        ("a run of network failed", ZeroDivisionError)
    ]


def test_a_check_and_a_run_tell_the_time_of_their_own_jail(engine):
    asked = [(engine.check, NETWORK.solution), (engine.run, NETWORK.solution), (engine.check, "import os")]

    told = [ask(NETWORK.task(), code) for ask, code in asked * 2]

    assert all(0 < one.jail_ms < one.wall_ms for one in told if one.outcome == "graded")
    assert [one.jail_ms for one in told if one.outcome == "refused"] == [0, 0]
