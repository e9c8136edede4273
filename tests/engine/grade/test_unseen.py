"""Wrong and right lines for programs that are in no lesson: nothing in grading may know a program by name.

The texts beside `tests/grading/unseen/load.py` hold them; each wrong piece stands with the code that it must get.
"""

import pytest

from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import MORE, NETWORK, Box, make_forward
from tests.grading.unseen.load import BOXES, RIGHT_PIECES, WRONG

SPECIFIC = 0.95
QUIET = {*RIGHT, "follows", "not-yet"}


@pytest.fixture(scope="module", params=[12, pytest.param(1, marks=pytest.mark.prove)], ids=["each twelfth", "all"])
def faults(engine, request):
    """By wrong piece: the names at fault with their codes; empty where it was accepted."""
    found = {}
    for piece in WRONG[:: request.param]:
        verdict = engine.check(piece.box.task(grade="value"), piece.submission)
        found[piece] = {} if verdict.passed else {one.name: one for one in verdict.names if one.verdict not in QUIET}
    return found


def test_there_are_enough_of_them():
    assert len(BOXES) >= 12
    assert len(WRONG) >= 200
    assert len(RIGHT_PIECES) >= 40


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_the_solution_passes(engine, box):
    assert engine.check(box.task(grade="value"), box.solution).passed


def test_every_wrong_piece_is_rejected_at_exactly_the_changed_tensor(faults):
    elsewhere = {str(piece): list(names) for piece, names in faults.items() if list(names) != [piece.name]}

    assert elsewhere == {}


def test_every_wrong_piece_has_its_code(faults):
    codes = {piece: names[piece.name].code for piece, names in faults.items()}
    other = {str(piece): (piece.code, code) for piece, code in codes.items() if code != piece.code}

    assert other == {}


def test_nearly_every_code_is_a_specific_one(faults):
    codes = [names[piece.name].code for piece, names in faults.items()]
    specific = [code for code in codes if not code.endswith(":unrecognised")]

    assert len(specific) >= SPECIFIC * len(codes)


def test_every_sentence_speaks_of_the_learners_own_names(faults):
    for piece, names in faults.items():
        message = names[piece.name].message

        assert f"`{piece.name}`" in message or f"{piece.name} " in message or f"`{piece.name[1:]}`" in message, message
        assert message.endswith(".")
        assert message.count("`") % 2 == 0


@pytest.mark.in_turn
@pytest.mark.parametrize("piece", RIGHT_PIECES, ids=str)
def test_no_right_piece_is_rejected(engine, piece):
    verdict = engine.check(piece.box.task(grade="value"), piece.submission)

    assert verdict.passed, [one for one in verdict.names if one.verdict not in RIGHT] or verdict


STEPS = (
    ("memory", "z = carry * (1 - states[t + 1] ** 2)", "z = 1 - states[t + 1] ** 2", "dU:factor-missing"),
    ("onward", "ds = dz @ R.T", "ds = dz @ R", "dx1:transpose-missing:R"),
    ("onward", "dz = ds * s * (1 - s)", "dz = ds * (1 - s)", "dx1:factor-missing"),
    ("onward", "ds = ds3", "ds = 2 * ds3", "dx1:doubled"),
    ("rnnlist", "dz = d * (1 - hs[i + 1] ** 2)", "dz = 1 - hs[i + 1] ** 2", "dx:factor-missing"),
)


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "right", "wrong", "code"), STEPS, ids=[row[2] for row in STEPS])
def test_a_slip_in_a_helper_step_is_named_at_the_first_gradient_of_it(engine, name, right, wrong, code):
    box = next(one for one in (*BOXES, *MORE) if one.name == name)
    assert box.solution.count(right) == 1

    verdict = engine.check(box.task(grade="value"), box.solution.replace(right, wrong))

    assert [one.code for one in verdict.names if one.verdict not in QUIET] == [code]


ONE_HOT = "F.one_hot(logits.max(1).indices, num_classes=vocab)"
BELOW = (
    ("dW2 = h.T @ dlogits", "dW2 = (h.T @ dlogits) ** 2", "dW2:power-extra"),
    ("dW1 = embcat.T @ dhprebn", "dW1 = torch.tanh(embcat.T @ dhprebn)", "dW1:function-extra:tanh"),
    ("dprobs = dlogprobs / probs", "dprobs = dlogprobs + probs", "dprobs:sum-for-quotient"),
    ("1.0 / (n - 1)", "1.0 / (bnvar_inv - 1)", "dbndiff2:wrong-size:bnvar_inv"),
    (f"{ONE_HOT} * dlogit_maxes", f"{ONE_HOT} + dlogit_maxes", "dlogits:sum-for-product"),
    ("dC = torch.zeros_like(C)", "dC = torch.ones_like(C)", "dC:added:1"),
    ("dembcat = dhprebn", "m, s = divmod(7, 2)\ndembcat = embcat + dhprebn", "dembcat:term-extra:embcat"),
)


@pytest.mark.in_turn
@pytest.mark.parametrize(("right", "wrong", "code"), BELOW, ids=[row[2] for row in BELOW])
def test_a_slip_is_named_whatever_stands_in_other_lines(engine, right, wrong, code):
    assert NETWORK.solution.count(right) == 1

    verdict = engine.check(NETWORK.task(grade="value"), NETWORK.solution.replace(right, wrong))

    assert [one.code for one in verdict.names if one.verdict not in QUIET] == [code]


def test_a_text_that_reads_only_zeros_has_a_verdict(engine, caplog):
    forward = make_forward("dead", "N: 4, D: 3", "x: [N, D]", "y", "a = -x.exp()\ny = torch.relu(a)")
    box = Box("dead", forward, ("da", "dx"), "da = dy * (a > 0)\ndx = -da * x.exp()")
    assert engine.check(box.task(grade="value"), box.solution).passed

    verdict = engine.check(box.task(grade="value"), box.solution.replace("dy * (a > 0)", "dy * (a < 0)"))

    assert [one.name for one in verdict.names if one.verdict not in QUIET] == ["da"]
    assert caplog.records == []
