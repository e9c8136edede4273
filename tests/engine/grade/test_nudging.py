"""Nudges by the engine: against autograd, on the programs of all boxes, at kinks, and with every kind of own number."""

from pathlib import Path

import numpy as np
import pytest

from app.course.parse import parse_lesson
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.grading.judge.hunt_verdict import with_line
from tests.grading.boxes.load import BOXES, NETWORK, Box, OpenJail, make_forward

LINEAR = Box(
    "linear",
    make_forward("linear", "N: 6, D: 4, H: 3", "X: [N, D]; W: [D, H]; b: [H]", "Y", "Y = X @ W + b\n"),
    ("dX", "dW", "db"),
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n",
)


def kinked(source, inputs="x: [N]", require=("dx",), solution="dx = 0 * dy"):
    return Box("kinked", make_forward("kinked", "N: 5", inputs, "y", source), require, solution)


def first_entry(engine, box, name):
    """A question about the entry that the gradient is largest at, which tells most."""
    gradient = engine._bench(box.task()).references["v"][name[1:]].gradient
    at = np.unravel_index(int(np.abs(gradient).argmax()), gradient.shape)
    return ", ".join(str(one) for one in at), float(gradient[at])


@pytest.mark.in_turn
@pytest.mark.parametrize("box", [*BOXES, NETWORK], ids=lambda box: box.name)
def test_the_quotient_of_every_gradient_is_what_autograd_says(engine, box):
    for name in box.require:
        entry, reference = first_entry(engine, box, name)

        found = engine.nudge(box.task(), box.solution, name, entry)

        scale = engine._bench(box.task()).references["v"][name[1:]]
        assert found.outcome == "graded", found
        assert found.quotient == pytest.approx(reference, rel=2e-4, abs=2e-5 * max(scale.scale, scale.noise))
        assert found.note or "agree up to rounding" in found.message or "to the last digit" in found.message, found


def test_the_numbers_shown_give_the_quotient(engine):
    found = engine.nudge(LINEAR.task(), LINEAR.solution, "dW", "1, 2")

    assert found.entry == (1, 2)
    assert found.loss == "(dY * Y).sum()"
    assert (found.above - found.below) / (2 * found.step) == pytest.approx(found.quotient, rel=1e-6)


def test_a_scalar_output_is_the_loss_itself(engine):
    assert engine.nudge(NETWORK.task(), NETWORK.solution, "db2", "0").loss == "loss"


def test_no_autograd_runs_and_the_reference_stays_outside():
    jail = OpenJail()
    engine = Engine(jail, None)
    task = LINEAR.task()
    reference = engine._bench(task).references["v"]["W"].gradient
    jail.jobs.clear()

    engine.nudge(task, LINEAR.solution, "dW", "1, 2")

    probe, attempt = jail.jobs
    assert (probe.driver, attempt.driver) == ("nudge", "attempt")
    for job in jail.jobs:
        assert not any(
            one.shape == reference.shape and np.allclose(one, reference, rtol=1e-3) for one in job.arrays.values()
        )


@pytest.mark.parametrize(
    ("code", "own", "said"),
    [
        ("dW = 2 * (X.T @ dY)", True, "Your number is 2 times the quotient"),
        ("dW = -X.T @ dY", True, "opposite sign"),
        ("dW = torch.zeros(D, H)", True, "your number is zero"),
        ("dW = dY.T @ X", False, "Your `dW` has shape `(3, 4)` and not `(4, 3)`"),
        ("dW = torch.full((D, H), float('nan'))", False, "Your number there is nan"),
        ("dW = ____", False, "Your code left no `dW`"),
        ("dX = dY @ W.T", False, "Your code left no `dW`"),
        ("dW = None", False, "Your code left `dW` as something"),
        ("dW = 1 +", False, "Your code was not run"),
        ("Y.backward()", False, "Your code was not run"),
        ("dW = X @ dY", False, "Your code left no `dW`"),
    ],
)
def test_the_own_number_stands_beside_it_or_its_absence_is_explained(engine, code, own, said):
    found = engine.nudge(LINEAR.task(), code, "dW", "1, 2")

    assert found.outcome == "graded"
    assert found.quotient
    assert (found.own is not None) == own
    assert said in found.message


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("dW", "9, 0", "axis 0 goes from 0 to 3"),
        ("dW", "", "`dW` has shape `(4, 3)`"),
        ("dY", "0, 0", "is not asked for"),
        ("dQ", "0", "is not asked for"),
        ("", "0", "is not asked for"),
    ],
)
def test_a_question_that_cannot_be_answered_is_explained(engine, name, entry, said):
    found = engine.nudge(LINEAR.task(), LINEAR.solution, name, entry)

    assert found.outcome == "refused"
    assert said in found.message


def test_whole_numbers_cannot_be_moved(engine):
    found = engine.nudge(NETWORK.task(), NETWORK.solution, "dXb", "0, 0")

    assert found.outcome == "refused"
    assert "`Xb` holds whole numbers" in found.message


def test_a_tensor_in_the_middle_is_moved_where_it_is_written(engine):
    chain = kinked("a = x * x\nb = a * 3\ny = a * b\n", require=("da", "db", "dx"))

    for name, rule in (("db", "dy * a"), ("da", "dy * b + 3 * dy * a"), ("dx", "2 * x * (dy * b + 3 * dy * a)")):
        found = engine.nudge(chain.task(), f"{name} = {rule}", name, "2")

        assert "agree up to rounding" in found.message, found


@pytest.mark.parametrize(
    "source",
    ["z = x - x.detach()\ny = torch.relu(z)\n", "z = x - x.detach()\ny = torch.maximum(z, -z)\n"],
)
def test_a_kink_is_said_to_be_one(engine, source):
    box = kinked(source, require=("dz",), solution="dz = 0 * dy")

    found = engine.nudge(box.task(), "dz = 0 * dy", "dz", "1")

    assert "kink" in found.note


def test_random_numbers_of_a_program_are_the_same_on_both_sides(engine):
    box = kinked("m = F.dropout(torch.ones(N), 0.5)\ny = x * m\n", require=("dx",), solution="dx = dy * m")

    for entry in range(5):
        assert not engine.nudge(box.task(), "dx = dy * m", "dx", str(entry)).note


def test_a_hunt_is_nudged_through_its_mended_code_and_a_checker_not_at_all(engine):
    path = Path(__file__).parents[1] / "checks.md"
    lesson, _ = parse_lesson(path.read_text(encoding="utf-8"), path.name)
    hunt, checker = (lesson.exercise(name) for name in ("bessel", "cmp"))

    mended = engine.nudge(task_of(lesson, hunt), with_line(hunt.solution.source, hunt.line), "dx", "0, 0")
    refused = engine.nudge(task_of(lesson, checker), checker.solution.source, "dx", "0, 0")

    assert "agree up to rounding" in mended.message, mended
    assert refused.outcome == "refused"
    assert "no gradient in this box" in refused.message


def test_a_nudge_in_the_jail_is_the_same_as_outside_of_it(engine, jailed):
    outside = engine.nudge(NETWORK.task(), NETWORK.solution, "dhprebn", "3, 5")

    inside = jailed.nudge(NETWORK.task(), NETWORK.solution, "dhprebn", "3, 5")

    assert inside.quotient == pytest.approx(outside.quotient, rel=1e-8)
    assert "agree up to rounding" in inside.message


def test_code_that_never_ends_still_gets_its_quotient(jailed):
    found = jailed.nudge(LINEAR.task(seconds=0.5), "while True:\n    pass", "dW", "0, 0")

    assert found.outcome == "graded"
    assert found.own is None
    assert "did not finish" in found.message
