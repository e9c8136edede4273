"""What is told of a wrong line when the time for explanations is over, or the process ends over them."""

import pytest

from app.engine.grade import tape_queries
from app.engine.grade.engine import UNEXPLAINED, Engine
from app.engine.grade.explanation_time import ExplanationTimeBudget
from app.engine.grade.tape_queries import OTHERS_FIRST, SPENT
from app.grading.judge import judging
from app.syntax import as_written
from tests.grading.boxes.load import Box, OpenJail, load, make_forward

BOX = next(box for box in load("boxes.toml") if len(box.require) > 1 and box.forward.dims)
PRODUCTS = next(box for box in load("boxes.toml") if box.solution.endswith("dW = X.T @ dY\n"))
WRONG = "\n".join(f"{name} = {name} * 1.7 + 0.3" for name in BOX.require)


def wrong(box=BOX):
    return f"{box.solution}\n{WRONG}\n"


def spin(_case):
    while True:
        pass


def test_right_and_wrong_are_told_before_reasons_are_looked_for(monkeypatch):
    told = []
    monkeypatch.setattr(tape_queries, "diagnose", lambda _case: told.append("a search"))

    verdict = Engine(OpenJail(), None, tell=told.append).check(BOX.task(), wrong())

    bare = told[0]
    assert [one.verdict for one in bare.names] == [one.verdict for one in verdict.names]
    assert bare.message == UNEXPLAINED
    assert told[1] == "a search"


def test_what_is_told_first_is_not_compared_again_for_the_reasons(monkeypatch):
    compared = []
    monkeypatch.setattr(judging, "closeness", lambda got, _reference: compared.append(got))

    Engine(OpenJail(), None, tell=lambda _bare: None).check(BOX.task(), wrong())

    assert len(compared) == len(BOX.require)


def test_another_product_is_tried_once_in_a_check(monkeypatch):
    tried = []
    monkeypatch.setattr(tape_queries, "is_right_with", lambda _case, lines: tried.append(as_written(lines[-1])))

    Engine(OpenJail(), None).check(PRODUCTS.task(), PRODUCTS.solution.replace("X.T @ dY", "X @ dY"))

    assert tried
    assert len(tried) == len({*tried})


def test_nothing_is_told_of_what_is_right():
    told = []

    assert Engine(OpenJail(), None, tell=told.append).check(BOX.task(), BOX.solution).passed
    assert not told


def test_a_search_without_end_leaves_the_verdict_and_says_so(monkeypatch):
    monkeypatch.setattr(tape_queries, "diagnose", spin)
    monkeypatch.setattr(tape_queries, "ExplanationTimeBudget", lambda: ExplanationTimeBudget(0.05))

    verdict = Engine(OpenJail(), None).check(BOX.task(), wrong())

    assert any(one.verdict == "wrong" for one in verdict.names)
    assert all(one.message.endswith(f"{SPENT} {OTHERS_FIRST}") for one in verdict.names if one.verdict == "wrong")


def test_where_one_line_alone_is_wrong_nobody_is_sent_to_others(monkeypatch):
    monkeypatch.setattr(tape_queries, "diagnose", spin)
    monkeypatch.setattr(tape_queries, "ExplanationTimeBudget", lambda: ExplanationTimeBudget(0.05))
    last = BOX.require[-1]

    verdict = Engine(OpenJail(), None).check(BOX.task(), f"{BOX.solution}\n{last} = {last} * 1.7 + 0.3\n")

    assert [one.message.endswith(SPENT) for one in verdict.names if one.verdict == "wrong"] == [True]


STEPS = "".join(f"h{t + 1} = torch.tanh(x[:, {t}] @ Wx + h{t} @ Wh)\n" for t in range(4))
LOOP = make_forward(
    "loop",
    "N: 3, D: 5, H: 6",
    "x: [N, 4, D]; h0: [N, H]; Wx: [D, H]; Wh: [H, H]",
    "h",
    f"{STEPS}h = torch.stack([h1, h2, h3, h4], 1)",
)
BACKWARD = """dx = torch.zeros_like(x)
dWx = torch.zeros_like(Wx)
dWh = torch.zeros_like(Wh)
carry = torch.zeros_like(h0)
for t in reversed(range(4)):
    before = h[:, t - 1] if t > 0 else h0
    da = (dh[:, t] + carry) * (1 - h[:, t] ** 2)
    dx[:, t] = da @ Wx.T
    dWx += x[:, t].T @ da
    dWh += before.T @ da
    carry = da @ Wh.T
dh0 = carry
"""


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("(1 - h", "(1 + h", "dx:term-sign"),
        ("+ carry)", "- carry)", "dx:term-sign"),
        ("(dh[:, t] + carry)", "dh[:, t]", "dx:term-missing"),
        ("carry = da @ Wh.T", "carry = da @ Wh", "dx:transpose-missing:Wh"),
        ("h[:, t] ** 2", "h[:, t]", "dx:power-missing"),
    ],
)
def test_a_slip_in_a_loop_with_a_condition_is_named_at_one_line(old, new, code):
    box = Box("loop", LOOP, ("dx", "dWx", "dWh", "dh0"), BACKWARD)

    verdict = Engine(OpenJail(), None).check(box.task(grade="value"), BACKWARD.replace(old, new))

    assert [one.code for one in verdict.names if one.verdict == "wrong"] == [code]


def test_all_diagnoses_of_a_check_pay_from_one_purse(monkeypatch):
    purses = []
    monkeypatch.setattr(tape_queries, "diagnose", lambda case: purses.append(case.budget))

    Engine(OpenJail(), None).check(BOX.task(), wrong())

    assert len(purses) > 1
    assert len({id(one) for one in purses}) == 1


GELU = make_forward("gelu", "N: 5, H: 4", "e: [N, H]", "a", "a = F.gelu(e)")
BY_PARTS = """cdf = 0.5 * (1 + torch.erf(e / 2 ** 0.5))
pdf = torch.exp(-0.5 * e ** 2) / 2.5066282746310002
de = da * (cdf + e * pdf)
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("(1 + t", "(1 - t", "cdf"), ("-0.5 * e", "0.5 * e", "pdf")],
)
def test_a_slip_in_a_step_is_found_there_and_not_made_up_for_further_down(old, new, line):
    box = Box("gelu", GELU, ("de",), BY_PARTS)

    verdict = Engine(OpenJail(), None).check(box.task(grade="value"), BY_PARTS.replace(old, new))

    assert verdict.names[0].message.startswith(f"In `{line} = ")


NORM = make_forward(
    "norm",
    "N: 7, D: 4",
    "x: [N, D]; gamma: [D]; beta: [D]",
    "out",
    """mu = x.mean(0)
var = x.var(0, unbiased=False)
xhat = (x - mu) / torch.sqrt(var + 1e-5)
out = gamma * xhat + beta
""",
)
FUSED = """dbeta = dout.sum(0)
dgamma = (dout * xhat).sum(0)
dx = gamma / (N * torch.sqrt(var + 1e-5)) * (N * dout - dbeta - xhat * dgamma)
"""


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("dx = gamma", "dx = -gamma", "dx:sign"),
        ("(N * dout -", "(dout -", "dx:share-factor:xhat:1/N"),
        ("- dbeta", "+ dbeta", "dx:share-sign:mu"),
        ("- xhat * dgamma", "", "dx:share-missing:var"),
        ("xhat * dgamma)", "xhat)", "dx:factor-missing"),
        ("xhat * dgamma)", "x * dgamma)", "dx:wrong-operand:x"),
    ],
)
def test_a_slip_in_a_fused_norm_that_reads_its_siblings_is_named(old, new, code):
    box = Box("norm", NORM, ("dbeta", "dgamma", "dx"), FUSED)

    verdict = Engine(OpenJail(), None).check(box.task(grade="value"), FUSED.replace(old, new))

    assert [one.code for one in verdict.names if one.verdict == "wrong"] == [code]
