"""Every edit of every rule is recognised as itself, and every prediction of every family as a mistake."""

import ast
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from app.grading.diagnosis import diagnose as diagnosing
from app.grading.diagnosis.diagnose import diagnose
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import format_code, normalised_text, slips_of
from app.grading.diagnosis.rule_slips import TWINS, slips_at
from app.grading.operations.table import OPERATIONS, RULES
from app.grading.reading.node import is_broadcastable
from app.grading.reading.rules import evaluate_rule, rule_of
from tests.grading.boxes.load import make_forward
from tests.grading.diagnosis.tape import Bed

DIMS = "N: 7, D: 5, H: 6, V: 4, K: 3"
PROGRAMS = {
    "tanh": ("x: [N, D]", "y = torch.tanh(x)", "x"),
    "sigmoid": ("x: [N, D]", "y = torch.sigmoid(x)", "x"),
    "exp": ("x: [N, D]", "y = x.exp()", "x"),
    "log": ("x: [N, D] positive", "y = torch.log(x)", "x"),
    "sqrt": ("x: [N, D] positive", "y = (x + 1e-3).sqrt()", "x"),
    "rsqrt": ("x: [N, D] positive", "y = (x + 1e-3).rsqrt()", "x"),
    "relu": ("x: [N, D]", "y = torch.relu(x)", "x"),
    "clamp": ("x: [N, D]", "y = x.clamp(max=0.5)", "x"),
    "cube": ("x: [N, D] positive", "y = x ** 3", "x"),
    "root": ("x: [N, D] positive", "y = (x + 1e-3) ** -0.5", "x"),
    "softplus": ("x: [N, D]", "y = F.softplus(x)", "x"),
    "mul": ("x: [N, D]; z: [N, D]", "y = x * z", "x"),
    "mul column": ("x: [N, 1]; z: [N, D]", "y = z * x", "x"),
    "numerator": ("x: [N, D]; z: [N, D] positive", "y = x / z", "x"),
    "denominator": ("x: [N, 1] positive; z: [N, D]", "y = z / x", "x"),
    "add": ("x: [N, D]; z: [N, D]", "y = z + x", "x"),
    "row": ("x: [D]; z: [N, D]", "y = z + x", "x"),
    "matmul left": ("x: [N, D]; z: [D, H]; w: [N, D]", "y = x @ z", "x"),
    "matmul right": ("x: [D, H]; z: [N, D]; w: [N, D]", "y = z @ x", "x"),
    "vector": ("x: [D]; z: [N, H, D]", "y = z @ x", "x"),
    "softmax": ("x: [N, V]", "y = torch.softmax(x, 1)", "x"),
    "log_softmax": ("x: [N, V]", "y = F.log_softmax(x, dim=-1)", "x"),
    "logsumexp": ("x: [N, V]", "y = x.logsumexp(1)", "x"),
    "cross_entropy": ("x: [N, V]; t: [N] ints(V)", "y = F.cross_entropy(x, t)", "x"),
    "two classes": ("x: [N]; t: [N] positive", "y = F.binary_cross_entropy_with_logits(x, t)", "x"),
    "squares": ("x: [N, D]; t: [N, D]", "y = F.mse_loss(x, t)", "x"),
    "max": ("x: [N, V]; t: [N] ints(V)", "y = x.max(1).values", "x"),
    "min": ("x: [N, V]", "y = torch.amin(x, 1, keepdim=True)", "x"),
    "lookup": ("x: [V, D]; i: [N, K] ints(V)", "y = x[i]", "x"),
    "pick": ("x: [N, V]; i: [N] ints(V); j: [N] ints(V)", "y = x[torch.arange(N), i]", "x"),
    "permute": ("x: [N, D, H]", "y = x.permute(2, 0, 1)", "x"),
    "heads": ("x: [N, D, H]", "y = x.transpose(1, 2).reshape(N, D * H)", "x"),
    "cat": ("x: [N, 2]; z: [N, 3]", "y = torch.cat([x, z], 1)", "x"),
    "var": ("x: [N, D]", "y = x.var(0)", "x"),
    "std": ("x: [N, D]", "y = x.std(0)", "x"),
    "gelu": ("x: [N, D]", "y = F.gelu(x)", "x"),
    "gelu tanh": ("x: [N, D]", "y = F.gelu(x, approximate='tanh')", "x"),
    "silu": ("x: [N, D]", "y = F.silu(x)", "x"),
    "cumsum": ("x: [N, D]", "y = x.cumsum(1)", "x"),
    "difference": ("x: [D]; z: [N, D]", "y = z - x", "x"),
    "two limits": ("x: [N, D]", "y = x.clamp(-0.5, 0.5)", "x"),
    "mean": ("x: [N, D]", "y = x.mean(1)", "x"),
    "layer norm": ("x: [N, D]; w: [D]; b: [D]", "y = F.layer_norm(x, (D,), w, b)", "x"),
    "layer norm gain": ("x: [N, D]; w: [D]; b: [D]", "y = F.layer_norm(x, (D,), w, b)", "w"),
    "mask": ("x: [D, D]", "y = x.masked_fill(torch.ones(D, D).triu(1).bool(), 0.0)", "x"),
}

EARLIER = {
    # Read off before any rule is edited: one factor on a whole share, a sum over other axes, a shape.
    "sign", "factor", "doubled", "halved", "bessel", "power-coefficient", "constant-missing", "constant-twice",
    "sign-and-power-coefficient", "sign-and-doubled", "sign-and-halved", "sign-and-factor", "share-missing",
    "not-reduced", "wrong-axis", "mean", "mean-wrong-axis", "one-slice", "summed-all", "transposed", "not-expanded",
    "zeros", "share-factor", "share-sign", "share-doubled", "several", "largest", "sums-multiplied", "not-finite",
}  # fmt: skip
"""Rows of the stages that speak before the rules do: where they predict the same tensor, theirs is the closer word."""


def bed_of(name):
    inputs, source, tensor = PROGRAMS[name]
    box = SimpleNamespace(forward=make_forward(name, DIMS, inputs, "y", source), require=(f"d{tensor}",))
    return Bed(box), tensor


@pytest.fixture(scope="module", params=PROGRAMS)
def table(request):
    """A right case of one program, and every row that predicts a wrong tensor for it."""
    bed, tensor = bed_of(request.param)
    case = bed.case(tensor, [sight.look(tensor).reference for sight in bed.sights])
    view = GradientAnalysis(case)
    families = [family for stage in diagnosing.STAGES if not callable(stage) for family in stage]
    rows = []
    for mistake in diagnosing.predicted(view, tuple(families)):
        tensors = [view.predicted(mistake, look) for look in case.looks]
        if all(tensor is not None for tensor in tensors) and _is_wrong(view, tensors):
            rows.append((mistake, tensors))
    return request.param, case, rows


def _is_wrong(view, tensors):
    pairs = list(zip(tensors, view.case.looks, strict=True))
    return any(view.wrong(tensor, look) and view.weighty(tensor, look) for tensor, look in pairs)


def made_by(case, mistake, tensors):
    """The case of a learner who made *mistake*, with lines that mention what the mistake mentions."""
    words = " + ".join(mistake.mentions) or "0"
    words = f"({words}).mean()" if mistake.code.startswith("mean") else words
    words = f"({words}) @ 0" if mistake.code.startswith(("matmul", "wrong-operand")) else words
    looks = tuple(replace(look, got=tensor) for look, tensor in zip(case.looks, tensors, strict=True))
    return replace(case, looks=looks, writes=tuple(ast.parse(f"{case.name} = {words}").body))


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(
    "step", [pytest.param(4, id="each fourth"), pytest.param(1, id="all", marks=pytest.mark.prove)]
)
def test_every_prediction_is_recognised(table, step):
    _, case, rows = table

    assert rows
    for mistake, tensors in rows[::step]:
        found = diagnose(made_by(case, mistake, tensors))

        assert found is not None, mistake.code


@pytest.mark.in_turn(turns=4)
def test_every_edit_of_the_rule_is_recognised_as_itself(table):
    _, case, _ = table
    view = GradientAnalysis(case)

    confused = []
    for path, depth, step in view.every_step():
        slips = _predicted(view, path, depth, step)
        for slip, tensors in slips:
            # Two edits that give the same numbers, such as `1 - y` and `1 - y ** 1`, are one slip to whoever sees them.
            twins = {_code(view, path, depth, one) for one, others in slips if _alike(view, others, tensors)}
            words = [word.format(**view.spot(path, depth)) for word in slip.mentions]
            mentioned = SimpleNamespace(code="", mentions=[word for word in words if word.isidentifier()])
            found = diagnose(made_by(case, mentioned, tensors)).code.split(":", 1)[1]
            if found not in twins and found.split(":")[0] not in EARLIER:
                confused.append((slip.text, twins, found))

    assert not confused


def _predicted(view, path, depth, step):
    """The slips at one step that predict a wrong tensor for both looks."""
    rule = rule_of(step.node, step.position)
    found = []
    for slip in slips_at(step.node.op, step.position, rule) if rule is not None else ():
        mistake = view.hypothesis_at_step(
            path, depth, slip.code, diagnosing.rule_edits.sender(view, slip.text), slip.say, word=""
        )
        tensors = [view.predicted(mistake, look) for look in view.case.looks]
        if all(tensor is not None for tensor in tensors) and _is_wrong(view, tensors):
            found.append((slip, tensors))
    return found


def _code(view, path, depth, slip):
    fields = view.spot(path, depth)
    return format_code(slip.code, {**fields, "word": slip.word.format(**fields)})


def _alike(view, one, other):
    pairs = zip(one, other, view.case.looks, strict=True)
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0.0) <= view.slack(a, look) for a, b, look in pairs)


def test_every_slip_with_a_sentence_belongs_to_a_rule():
    for op, rules in RULES.items():
        for position, rule in enumerate(rules):
            known = {slip.text: slip.code for slip in slips_at(op, position, rule)}
            right = {normalised_text(form) for form in (rule, *OPERATIONS[op].alike)}
            for text in slips_of(TWINS.get(op, op), position):
                assert text in right or text in known, (op, text)


@pytest.mark.parametrize("op", [row.name for row in OPERATIONS.values() if row.alike])
def test_other_forms_of_a_rule_are_right(op):
    bed, tensor = bed_of({"pow": "cube", "std": "std"}.get(op, op))
    view = GradientAnalysis(bed.case(tensor, [sight.look(tensor).reference for sight in bed.sights]))
    (step,) = [step for _, _, step in view.every_step() if step.node.op == op]

    for form in OPERATIONS[op].alike:
        full = evaluate_rule(form, view.meanings(step), step.node, step.position)
        assert is_broadcastable(step.x.shape, full.shape)
        assert np.allclose(full, evaluate_rule(rule_of(step.node, 0), view.meanings(step), step.node, 0)), form


def test_no_right_gradient_is_called_a_mistake(table):
    _, case, rows = table
    view = GradientAnalysis(case)

    assert not any(view.confirms(mistake) for mistake, _ in rows)


def test_every_sentence_can_be_said(table):
    _, _, rows = table

    for mistake, _ in rows:
        sentence = mistake.say()
        assert sentence.endswith(".")
        assert "{" not in sentence
        assert sentence.count("`") % 2 == 0


def test_rows_do_not_read_the_learners_tensor(table):
    _, case, rows = table
    blind = replace(case, looks=tuple(replace(look, got=np.full_like(look.got, np.nan)) for look in case.looks))

    for mistake, tensors in rows[::5]:
        if mistake.code != "not-reshaped":
            again = mistake.predict(blind.looks[0])
            assert np.allclose(again, tensors[0])
