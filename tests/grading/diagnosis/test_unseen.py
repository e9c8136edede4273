"""Programs that are in no lesson: the tables know operations, not exercises."""

from types import SimpleNamespace

import pytest

from app.grading.diagnosis.diagnose import diagnose
from tests.grading.boxes.load import make_forward
from tests.grading.diagnosis.tape import Bed

RECURRENT = SimpleNamespace(
    forward=make_forward(
        "recurrent",
        "B: 4, D: 3, H: 5",
        "x1: [B, D]; x2: [B, D]; Wx: [D, H]; Wh: [H, H]; b: [H]; h0: [B, H]",
        "h2",
        "a1 = x1 @ Wx + h0 @ Wh + b\nh1 = torch.tanh(a1)\na2 = x2 @ Wx + h1 @ Wh + b\nh2 = torch.tanh(a2)",
    ),
    require=("da2", "dh1", "da1", "dWx", "dWh", "db"),
    solution=(
        "da2 = dh2 * (1 - h2 ** 2)\ndh1 = da2 @ Wh.T\nda1 = dh1 * (1 - h1 ** 2)\ndWx = x1.T @ da1 + x2.T @ da2\n"
        "dWh = h0.T @ da1 + h1.T @ da2\ndb = da1.sum(0) + da2.sum(0)"
    ),
)
HEAD = SimpleNamespace(
    forward=make_forward(
        "head",
        "B: 2, T: 4, D: 3",
        "q: [B, T, D]; k: [B, T, D]; v: [B, T, D]",
        "o",
        "s = q @ k.transpose(-2, -1) / math.sqrt(D)\np = torch.softmax(s, -1)\no = p @ v",
    ),
    require=("dv", "dp", "ds", "dq", "dk"),
    solution=(
        "dv = p.transpose(-2, -1) @ do\ndp = do @ v.transpose(-2, -1)\n"
        "ds = p * (dp - (dp * p).sum(-1, keepdim=True))\ndq = ds @ k / math.sqrt(D)\n"
        "dk = ds.transpose(-2, -1) @ q / math.sqrt(D)"
    ),
)
NORM = SimpleNamespace(
    forward=make_forward("norm", "B: 3, D: 6", "x: [B, D]; w: [D]; b: [D]", "y", "y = F.layer_norm(x, (D,), w, b)"),
    require=("dw", "db", "dx"),
    solution=(
        "u = F.layer_norm(x, (D,))\ndw = (dy * u).sum(0)\ndb = dy.sum(0)\ndu = dy * w\n"
        "r = (x.var(-1, unbiased=False, keepdim=True) + 1e-5) ** -0.5\n"
        "dx = r * (du - du.mean(-1, keepdim=True) - u * (du * u).mean(-1, keepdim=True))"
    ),
)
TIED = SimpleNamespace(
    forward=make_forward(
        "tied",
        "N: 7, V: 5, D: 3",
        "E: [V, D]; ix: [N] ints(V); W: [D, D]; t: [N] ints(V)",
        "L",
        "e = E[ix]\nh = torch.tanh(e @ W)\nlg = h @ E.T\nlse = torch.logsumexp(lg, 1)\n"
        "pick = lg[torch.arange(N), t]\nL = (lse - pick).mean()",
    ),
    require=("dlse", "dpick", "dlg", "dh", "dW", "de"),
    solution=(
        "dlse = torch.full_like(lse, 1 / N)\ndpick = torch.full_like(pick, -1 / N)\n"
        "dlg = torch.softmax(lg, 1) * dlse[:, None] + F.one_hot(t, V) * dpick[:, None]\ndh = dlg @ E\n"
        "dW = e.T @ (dh * (1 - h ** 2))\nde = (dh * (1 - h ** 2)) @ W.T"
    ),
)
GATED = SimpleNamespace(
    forward=make_forward(
        "gated",
        "N: 6, D: 4",
        "x: [N, D]; G: [D, D]; U: [D, D]",
        "y",
        "a = x @ G\ng = torch.sigmoid(a)\nu = torch.tanh(x @ U)\nc = u.clamp(-0.5, 0.5)\ns = (a ** 2 + 1).sqrt()\n"
        "y = x + g * c + s",
    ),
    require=("dg", "dc", "ds", "du", "da", "dU", "dG"),
    solution=(
        "dg = dy * c\ndc = dy * g\nds = dy.clone()\ndu = dc * (u.abs() < 0.5)\n"
        "da = dg * g * (1 - g) + ds * a / s\ndU = x.T @ (du * (1 - u ** 2))\ndG = x.T @ da"
    ),
)
BOXES = (RECURRENT, HEAD, NORM, TIED, GATED)
LINES = [
    (HEAD, "dq = ds.transpose(-2, -1) @ k / math.sqrt(D)", "dq:matmul-order"),
    (HEAD, "dq = ds @ k * 3 ** -0.5", "dq:size-hard-coded"),
    (RECURRENT, "dWx = x1.T @ da2 + x2.T @ da1", "dWx:crossed:a1+a2"),
    (RECURRENT, "da2 = dh2 * (1 - h2 ** 2) ** 2", "da2:local-twice:tanh"),
    (
        TIED,
        "dlg = torch.softmax(lg, 1) * dlse[:, None]; dlg[torch.arange(N), t] = dpick",
        "dlg:overwritten:pick",
    ),
    (
        TIED,
        "dlg = torch.softmax(lg, 1) * dlse[:, None]; dlg[:, t] += dpick[:, None]",
        "dlg:index-every-row",
    ),
    (GATED, "dU = x.T @ da", "dU:wrong-upstream:da"),
    (GATED, "du = dc * (u < 0.5)", "du:gate-limit"),
    (GATED, "du = dc * (u > -0.5)", "du:gate-limit"),
    (GATED, "du = dc * (u > 0)", "du:gate-limit"),
    (GATED, "da = dg * g * (1 - g) - ds * a / s ** 3", "da:power-sign"),
    (RECURRENT, "dWh = h1.T @ da2", "dWh:share-missing:a1"),
    (RECURRENT, "dWh = h0.T @ da1; dWh = h1.T @ da2", "dWh:overwritten:a1"),
    (RECURRENT, "dWh = h1.T @ da2; dWh = dWh + 0", "dWh:share-missing:a1"),
    (RECURRENT, "dWx = x1.T @ da1 - x2.T @ da2", "dWx:share-sign:a2"),
    (RECURRENT, "dWh = h0.T @ da1 + h2.T @ da2", "dWh:wrong-operand:h2"),
    (RECURRENT, "dWh = (h0 + h1).T @ (da1 + da2)", "dWh:steps-mixed"),
    (RECURRENT, "dh1 = da2 @ Wh", "dh1:matmul-order"),
    (RECURRENT, "da1 = dh1 * (1 - h2 ** 2)", "da1:wrong-operand:h2"),
    (RECURRENT, "db = da1.sum(0) + da2.mean(0)", "db:mean"),
    (HEAD, "ds = p * dp", "ds:average-missing"),
    (HEAD, "ds = p * (1 - p) * dp", "ds:diagonal"),
    (HEAD, "dk = ds @ q / math.sqrt(D)", "dk:matmul-order"),
    (HEAD, "dq = ds @ k", "dq:factor:sqrt(D)"),
    (HEAD, "dv = p @ do", "dv:matmul-order"),
    (NORM, "dx = r * du", "dx:statistics-constant"),
    (NORM, "dx = r * (du - du.mean(-1, keepdim=True))", "dx:term-missing:variance"),
    (NORM, "dw = (dy * x).sum(0)", "dw:own-factor"),
    (NORM, "db = dy.mean(0)", "db:mean"),
]


@pytest.fixture(scope="module")
def drawn():
    return {id(box): Bed(box) for box in BOXES}


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.forward.name)
def test_the_solution_is_right(drawn, box):
    assert drawn[id(box)].judged(box.solution) == {}


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("box", "line", "code"), LINES, ids=[line for _, line, _ in LINES])
def test_a_wrong_line_of_an_unseen_program_has_its_code(drawn, box, line, code):
    name = line.split()[0]
    solution = [line if row.startswith(f"{name} =") else row for row in box.solution.split("\n")]

    cases = drawn[id(box)].judged("\n".join(solution))

    assert diagnose(cases[name[1:]]).code == code


def test_a_sum_without_factors_is_told_that_each_copy_was_scaled():
    scaled = make_forward("scaled", "N: 5, D: 3", "x: [N, D]; w: [D]", "y", "y = x * w")
    box = SimpleNamespace(forward=scaled, require=("dw",), solution="dw = (dy * x).sum(0)")

    found = diagnose(Bed(box).judged("dw = dy.sum(0)")["w"])

    assert found.code == "dw:local-missing:mul"
    assert "each copy of `w` was scaled on its way" in found.message
