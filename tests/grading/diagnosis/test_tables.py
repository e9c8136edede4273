"""Every row of every table: its own prediction is recognised as itself, and collides with no other row of the table."""

import ast
import importlib
import pkgutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from app.grading import diagnosis
from app.grading.diagnosis import diagnose as diagnosing
from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.diagnose import diagnose
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
    "mean": ("x: [N, D]", "y = x.mean(1)", "x"),
    "layer norm": ("x: [N, D]; w: [D]; b: [D]", "y = F.layer_norm(x, (D,), w, b)", "x"),
    "layer norm gain": ("x: [N, D]; w: [D]; b: [D]", "y = F.layer_norm(x, (D,), w, b)", "w"),
    "mask": ("x: [D, D]", "y = x.masked_fill(torch.ones(D, D).triu(1).bool(), 0.0)", "x"),
}

TWINS = {
    # The same tensor by another word: what the learner did is both, and the earlier stage speaks.
    "copied",
    "factor-extra",
    "factor-power",
    "divided-by",
    "wrong-operand",
    "wrong-upstream",
    "operand-changed",
    "matmul-order",
    "axes-mixed",
    "held-constant",
    "term-axis",
}
"""Rows of the general families: where a closer word predicts the same tensor, that word is found."""

SAME = {
    # (the row, what is found instead): equal tensors for this very program.
    ("relu", "gate-value"),
    ("cube", "power-changed"),
}
WORDS = {
    ("upstream-flipped", "mirrored"),
    ("upstream-shifted", "wrong-part"),
    ("upstream-shifted", "slice-missing"),
    ("one-slice", "positions"),
    ("slice-missing", "positions"),
    ("slice-repeated", "positions-repeated"),
}
"""Rows of what was done with the upstream, and the closer word for it at some operations: two names of one slip."""


def bed_of(name):
    inputs, source, tensor = PROGRAMS[name]
    box = SimpleNamespace(forward=make_forward(name, DIMS, inputs, "y", source), require=(f"d{tensor}",))
    return Bed(box), tensor


@pytest.fixture(scope="module", params=PROGRAMS)
def table(request):
    """A right case of one program, and every row that predicts a wrong tensor for it."""
    bed, tensor = bed_of(request.param)
    case = bed.case(tensor, [sight.look(tensor).reference for sight in bed.sights])
    bench = Bench(case)
    families = [family for stage in diagnosing.STAGES if not callable(stage) for family in stage]
    rows = []
    for mistake in diagnosing.predicted(bench, tuple(families)):
        tensors = [bench.predicted(mistake, look) for look in case.looks]
        if all(tensor is not None for tensor in tensors) and _is_wrong(bench, tensors):
            rows.append((mistake, tensors))
    return request.param, case, rows


def _is_wrong(bench, tensors):
    pairs = list(zip(tensors, bench.case.looks, strict=True))
    return any(bench.wrong(tensor, look) and bench.weighty(tensor, look) for tensor, look in pairs)


def made_by(case, mistake, tensors):
    """The case of a learner who made *mistake*, with lines that mention what the mistake mentions."""
    words = " + ".join(mistake.mentions) or "0"
    words = f"({words}).mean()" if mistake.code.startswith("mean") else words
    looks = tuple(replace(look, got=tensor) for look, tensor in zip(case.looks, tensors, strict=True))
    return replace(case, looks=looks, writes=tuple(ast.parse(f"{case.name} = {words}").body))


def test_every_prediction_is_recognised(table):
    _, case, rows = table

    assert rows
    for mistake, tensors in rows:
        found = diagnose(made_by(case, mistake, tensors))

        assert found is not None, mistake.code


def test_every_row_of_an_operation_is_recognised_as_itself(table):
    name, case, rows = table

    confused = []
    for mistake, tensors in rows:
        row = mistake.code.split(":")[0]
        found = diagnose(made_by(case, mistake, tensors)).code.split(":", 1)[1]
        twin = row in TWINS or (name, row) in SAME or (row, found.split(":")[0]) in WORDS
        if found != mistake.code and not twin:
            confused.append((mistake.code, found))

    assert not confused


def test_no_right_gradient_is_called_a_mistake(table):
    _, case, rows = table
    bench = Bench(case)

    assert not any(bench.came_true(mistake) for mistake, _ in rows)


def test_every_code_is_documented_where_its_row_stands(table):
    _, _, rows = table
    names = [each.name for each in pkgutil.iter_modules(diagnosis.__path__)]
    documented = " ".join(importlib.import_module(f"{diagnosis.__name__}.{name}").__doc__ or "" for name in names)

    missing = {mistake.code.split(":")[0] for mistake, _ in rows if f"`{mistake.code.split(':')[0]}" not in documented}

    assert not missing


def test_every_sentence_can_be_said(table):
    _, case, rows = table

    for mistake, _ in rows:
        sentence = mistake.say(case)
        assert sentence.endswith(".")
        assert "{" not in sentence
        assert sentence.count("`") % 2 == 0


def test_rows_do_not_read_the_learners_tensor(table):
    _, case, rows = table
    blind = replace(case, looks=tuple(replace(look, got=np.full_like(look.got, np.nan)) for look in case.looks))

    for mistake, tensors in rows[::5]:
        if mistake.code != "not-reshaped":
            again = mistake.predict(blind, case.looks[0])
            assert np.allclose(again, tensors[0])
