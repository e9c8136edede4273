"""The judge on programs in the style of public code: right forms pass, a wrong edit is one red line with a true name.

What is right and what is wrong is torch's word, in double precision on data of several sizes. `make test` looks at one
edit of an eighth of the programs, `make prove` at some five thousand.
"""

import ast
from math import ceil

import pytest

from app.engine.grade.engine import Engine
from app.grading.judge.verdict import RIGHT, NameVerdict, Verdict
from tests.grading.boxes.load import OpenJail
from tests.grading.programs.autograd import wrong_names
from tests.grading.programs.edits import Edit
from tests.grading.programs.load import PROGRAMS
from tests.grading.programs.measure import Measure
from tests.grading.programs.slip import AT_FAULT, Slip
from tests.grading.programs.texts import is_so_of_text
from tests.turns import rows_in_turn

FEWEST_PROGRAMS, FEWEST_KINDS = 60, 40
EACH = 64
"""Edits drawn for each program."""
ACCEPTED, ONE_LINE, NAMED, FALSE = 0.0, 0.995, 0.98, 0.002
"""Of wrong edits: the parts that are accepted, give one red line, are named, and have something false said of them."""

REFUSED: dict[str, set[int]] = {}
"""By program, the numbers of right forms that are refused today."""


def test_there_are_enough_programs_and_each_has_a_second_right_form():
    assert len(PROGRAMS) >= FEWEST_PROGRAMS
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert all(program.right for program in PROGRAMS)


@pytest.mark.in_turn
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_every_form_is_right_by_autograd(program):
    for form in (program.solution, *program.right):
        assert wrong_names(program, form) == set(), form


@pytest.mark.in_turn
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_every_right_form_is_accepted(program):
    engine = Engine(OpenJail(), None)
    for number, form in enumerate((program.solution, *program.right)):
        verdict = engine.check(program.task, form)

        said = [(one.name, one.code, one.message) for one in verdict.names if one.verdict not in RIGHT]
        assert verdict.passed or number in REFUSED.get(program.name, ()), (number, verdict.message, said)


HUBER = "dper * torch.where(a <= 1.0, r, torch.sign(r))"
NAMED_SLIPS = (
    ("ppo", "ds1 = -dpg / N * pick", "ds1 = -dpg * pick", "ds1:factor:N", "`N` times too large"),
    ("kl_gauss", "dstd * 0.5 * std", "std", "dlogvar:copied:std", "the share through `std` is `std` and nothing else"),
    ("focal", "- dce / pt", "* (dce / pt)", "dpt:product-for-sum", "is a product where the rule takes one part from"),
    ("cross_entropy_fused", "dz[torch.arange(N), y]", "dz[:, y]", "dz:index-every-row", "one entry that was picked"),
    ("huber", HUBER, "dper", "dr:copied:dper", "`dr` holds `dper` and nothing else"),
    ("huber", HUBER, "dper * r.sign()", "dr:part-wrong:where", "right except where `a <= 1.0` holds"),
    (
        "lstm_cell",
        "df * f * (1 - f)",
        "df * i * c",
        "da:part-wrong:1",
        "the share of `f = torch.sigmoid(a[:, H:",
    ),
    ("rnn_loop", "reversed(range(T))", "range(T)", "dx:loop-order", "In `for t in range(T)`, `range(T)` goes"),
    ("rnn_loop", "dh[:, t] + carry", "dh[:, t] * carry", "dx:product-for-sum", "is a product where the rule adds"),
    ("micrograd_neuron", "(e + 1) ** 2", "e ** 2", "de:term-missing", "is missing in what `e ** 2` raises"),
    ("exponential_average", "dm3 * (1 - b)", "dm3 * -b", "dx3:term-missing:dm3", "right with `dm3` added once more"),
    (
        "swiglu_block",
        "= torch.sigmoid(g)",
        "= 2 * torch.sigmoid(g)",
        "dg:factor-extra",
        "the factor `2` does not belong",
    ),
    (
        "causal_depthwise",
        "dp[:, :-2] += dz",
        "dp[:, :-2] -= dz",
        "dp:share-sign:z",
        "the share through its first place",
    ),
    ("causal_depthwise", "dz * w[:, 0]", "dz * w[:, 0] ** 2", "dp:factor-twice", "stands once more than in the rule"),
    ("rnn_loop", "t - 1]", "t - 2 * 1]", "dWh:factor-extra", "In `before = "),
    ("rnn_loop", "carry = da @ Wh.T", "carry = da @ Wh", "dx:transpose-missing:Wh", "In `carry = "),
    (
        "reinforce",
        "dlogp = dp * p -",
        "dlogp = dp * p * p -",
        "dlogp:local-twice:exp",
        "The share of `dlogp` through `p`",
    ),
    (
        "residual_mlp",
        "0.044715 * a ** 3",
        "0.044715 * a ** -3",
        "da:power-changed",
        "the exponent of `a ** -3` has the opp",
    ),
    ("token_position", "e / 2 ** 0.5", "e / (2 * 0.5)", "de:power-missing", "In `cdf = "),
    ("micrograd_neuron", "(e + 1) ** 2", "(e + 1)", "de:power-missing", "`e + 1` stands without the power"),
    (
        "activation_zoo",
        "d1 = du1 * (x > 0)",
        "d1 = du1 / (x > 0)",
        "dx:divided",
        "where the rule multiplies. In line 8 `du1 / (x > 0)` is not finite",
    ),
    ("causal_heads", "[dq, dk, dv]", "[dq, dq, dq]", "dqkv:wrong-part:dq", "each has a tensor of its own"),
    ("ppo", " + 0.5 * (s1 == s2)", "", "ds1:part-wrong:ties", "sends back half to each"),
    ("activation_zoo", "d5 = du5 * ", "d5 = ", "dx:upstream-missing", "Multiply it by the upstream gradient, `du5`"),
    (
        "group_norm",
        "(L * torch.sqrt",
        "(L / torch.sqrt",
        "dxg:multiplied",
        "divides a divisor, so that the whole is multiplied",
    ),
    ("masked_sequence", "dtotal * keep", "dtotal", "dtok:upstream-unchanged", "is `dtotal` unchanged"),
    (
        "factorization_machine",
        "dx2v2 @ (V",
        "dx2v2 * (V",
        "dX:error:broadcast",
        "a matrix product, `@`, stands here in the rule",
    ),
)


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "right", "wrong", "code", "words"), NAMED_SLIPS, ids=[row[3] for row in NAMED_SLIPS])
def test_a_slip_in_a_program_is_named(engine, name, right, wrong, code, words):
    program = next(one for one in PROGRAMS if one.name == name)
    assert program.solution.count(right) == 1

    verdict = engine.check(program.task, program.solution.replace(right, wrong))

    (red,) = (one for one in verdict.names if one.verdict in AT_FAULT)
    assert red.code == code
    assert words in red.message
    assert red.line == 1 + program.solution.partition(right)[0].count("\n")


def test_zeros_without_an_upstream_gradient_are_told_so(engine):
    program = next(one for one in PROGRAMS if one.name == "rnn_loop")

    verdict = engine.check(program.task, program.solution.replace("(dh[:, t] + carry)", "carry"))

    (red,) = (one for one in verdict.names if one.verdict in AT_FAULT)
    assert red.code == "dx:zeros"
    assert "The upstream gradient, `dh`, is read nowhere" in red.message


def test_entries_with_other_axes_than_their_places_are_told(engine):
    program = next(one for one in PROGRAMS if one.name == "masked_sequence")

    verdict = engine.check(program.task, program.solution.replace("dtotal * keep", "dtotal"))

    assert "is given entries with other axes than the index: there is a place for each entry." in verdict.message


OTHER_STEPS = (
    ("bilinear_ratings", "range(N)", "range(N - 1)", ["dbu", "dbi", "dQ", "dP"]),
    ("bilinear_ratings", "range(N)", "range(1, N)", ["dbu", "dbi", "dQ", "dP"]),
    ("rnn_loop", "range(T - 1, -1, -1)", "range(T - 2, -1, -1)", ["dx", "dWx", "dWh"]),
    ("rnn_loop", "reversed(range(T))", "range(T - 1, -2, -1)", ["dx", "dWx", "dh0", "dWh", "db"]),
    ("causal_depthwise", "range(3)", "range(1, 3)", ["dp", "dw"]),
)


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("name", "right", "wrong", "names"), OTHER_STEPS, ids=[row[2] for row in OTHER_STEPS])
def test_a_loop_through_other_steps_is_one_red_line(engine, name, right, wrong, names):
    program = next(one for one in PROGRAMS if one.name == name)
    text = next(form for form in (*program.right, program.solution) if right in form).replace(right, wrong)

    verdict = engine.check(program.task, text)

    (red,) = (one for one in verdict.names if one.verdict in AT_FAULT)
    assert red.code == f"{names[0]}:loop-steps"
    assert red.line == 1 + text.partition(wrong)[0].count("\n")
    assert f"The loop goes through `{wrong}`." in red.message
    begin = f"of the loop in line {red.line}; begin at `{names[0]}`."
    assert [one.name for one in verdict.names if one.message.endswith(begin)] == names[1:]


SAID_FALSELY = (
    ("factorization_machine", "2 * V * (", "2 * V * V * (", "dV:divisor-missing", "`dV` lacks a division"),
    ("svm_hinge", "dreg * W", "dreg * W * W", "dW:factor-twice:W", "stands twice; the forward uses it once."),
    ("plain_attention", "q / D ** 0.5", "q / (D * 0.5)", "dk:size-hard-coded", "fits only the size 4 of `D`"),
    ("plain_attention", "= do @ v.T", "= do * do @ v.T", "dp:power-extra", "the exponent of `do ** 2` does not belong"),
    ("softmax_regression_steps", "z = p * (", "z = p * p * (", "dz:factor-extra:p", "`p` does not belong there"),
    ("clip", "lt.exp() * dlt.sum(0, keepdim=True)", "lt.exp() * dlt", "ds:row-sum-missing", "`dlt`; entry of the row"),
)


@pytest.mark.parametrize("row", SAID_FALSELY, ids=[row[3] for row in SAID_FALSELY])
def test_what_is_false_of_the_text_is_seen(row):
    name, right, wrong, code, message = row
    program = next(one for one in PROGRAMS if one.name == name)
    lines = "\n".join(ast.unparse(line) for line in ast.parse(program.solution).body)
    text = lines.replace(right, wrong, 1)
    pairs = zip(lines.splitlines(), text.splitlines(), strict=True)
    ((number, before, after),) = ((at, old, new) for at, (old, new) in enumerate(pairs, 1) if old != new)
    red = NameVerdict(name=code.partition(":")[0], verdict="wrong", code=code, message=message)
    verdict = Verdict(outcome="graded", names=(red,))

    slip = Slip(program, Edit("", text, before, after, right, wrong, number), verdict, frozenset())

    assert not is_so_of_text(slip)


FEW = (rows_in_turn(PROGRAMS, 8), 1)
PARTS = {f"part {part + 1} of 3": (PROGRAMS[part::3], EACH) for part in range(3)}


@pytest.fixture(
    scope="module",
    params=[FEW, *(pytest.param(one, marks=pytest.mark.prove) for one in PARTS.values())],
    ids=["few", *PARTS],
)
def measured(request):
    """What the judge says of drawn edits, of a few or of some five thousand."""
    return Measure.of(*request.param)


def test_a_wrong_edit_is_accepted_nowhere_else_than_is_known(measured):
    assert len(measured.survivors) <= ACCEPTED * len(measured.slips), measured.listed(measured.survivors)


def test_a_wrong_edit_gives_one_red_line(measured):
    several = [slip for slip in measured.slips if not slip.one_line]

    assert len(several) <= (1 - ONE_LINE) * len(measured.slips), measured.listed(several)


def test_a_wrong_edit_is_named(measured):
    unnamed = [slip for slip in measured.slips if not slip.named]

    assert len(unnamed) <= (1 - NAMED) * len(measured.slips), measured.listed(unnamed)


def test_what_is_said_of_a_wrong_edit_holds_of_it(measured):
    assert len(measured.false) <= ceil(FALSE * len(measured.slips)), measured.listed(measured.false)


def test_the_edits_are_of_many_kinds(measured):
    print(measured)

    assert len({slip.edit.kind for slip in measured.slips}) >= min(FEWEST_KINDS, len(measured.slips) // 2)
