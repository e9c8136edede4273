"""One slip gives one red line, whatever the program: mutants of backward passes that were written by rules."""

import random

import pytest

from app.check.mutants import mutants_of
from app.engine.grade.engine import Engine
from app.grading.judge.judging import Judge
from tests.grading.boxes.load import OpenJail
from tests.grading.generated import drawn

FAULTS = {"wrong", "aliased", "mutated"}


@pytest.fixture(scope="module")
def silent():
    """An engine that judges and does not explain."""
    verdicts = Judge.verdicts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judge, "verdicts", lambda judge, **_: verdicts(judge, explains=False))
        yield Engine(OpenJail(), None)


def asked(box, seed, all_of_them):
    """The gradients to ask for: all of them, or those of the inputs and some others."""
    if all_of_them:
        return box.require
    chance = random.Random(seed)
    inputs = {f"d{one.name}" for one in box.forward.inputs}
    return tuple(name for name in box.require if name in inputs or chance.random() < 0.3)


def at_fault(engine, box, require, code):
    """The red lines and the outcome, or None; one whose gate is always open on the hidden data has none to tell."""
    verdict = engine.check(box.task(require=require), code)
    red = [one for one in verdict.names if one.verdict in FAULTS]
    only_here = red and all((one.code or "").endswith(":here-only") for one in red)
    return None if verdict.passed or only_here else ([one.name for one in red], verdict.outcome)


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(3, 60))])
@pytest.mark.parametrize("all_of_them", [True, False], ids=["all", "some"])
def test_one_slip_gives_one_red_line(silent, seed, all_of_them):
    box = drawn(seed)
    require = asked(box, seed, all_of_them)
    assert at_fault(silent, box, require, box.solution) is None
    for mutant in mutants_of(box.solution, frozenset(require)):
        found = at_fault(silent, box, require, mutant.code)
        if found is not None:  # some are right: a gate that is always open, a row that nothing reads
            names, outcome = found
            # A step that nobody asked for has no row of its own; where it stops, its line is told.
            assert len(names) == 1 or (outcome == "error" and not names and not all_of_them), (mutant, names)
