"""Slips of the pen that Python does not mind, or minds further down: the message names the line that caused it."""

import pytest

from tests.grading.boxes.load import Box, make_forward

SOLUTION = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"


def layer(sizes: str, weights: str) -> Box:
    forward = make_forward("layer", sizes, f"X: [N, D]; W: {weights}; b: [{weights[4]}]", "Y", "Y = X @ W + b")
    return Box("layer", forward, ("dX", "dW", "db"), SOLUTION)


LAYER = layer("N: 4, D: 3, H: 5", "[D, H]")
SQUARE = layer("N: 4, D: 3", "[D, D]")


@pytest.mark.parametrize(
    ("code", "line", "name"),
    [
        (SOLUTION.replace("dX =", "dX =="), 1, "dX"),
        (SOLUTION.replace("db =", "db =="), 3, "db"),
        (SOLUTION.replace("dX =", "if N:\n    dX =="), 2, "dX"),
    ],
)
def test_a_comparison_in_place_of_an_assignment_is_named_at_its_line(engine, code, line, name):
    verdict = engine.check(LAYER.task(), code)

    assert (verdict.outcome, verdict.line) == ("error", line)
    assert verdict.message == f"`==` compares, and `{name}` does not exist yet. One `=` assigns: `{name} = …`."
    (missing,) = (one for one in verdict.names if one.name == name)
    assert missing.verdict == "not-yet"
    assert missing.message == f"Line {line} compares `{name}`, with `==`; one `=` assigns it."


CAUSE = "Line {} overwrites `{}`, which is given, and line {} reads what now stands there."


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("box", [LAYER, SQUARE], ids=["shapes differ", "shapes agree"])
@pytest.mark.parametrize(
    ("code", "name", "cause"),
    [
        ("dY = dY @ W.T\ndX = dY\ndW = X.T @ dY\ndb = dX.sum(0)", "dW", (1, "dY", 3)),
        ("dX = dY @ W.T\ndY = dX\nu = 1 * dY\ndW = X.T @ u\ndb = X", "dW", (2, "dY", 3)),
        ("X = dY @ W.T\ndX = X\ndW = X.T @ dY\ndb = dY.sum(0)", "dW", (1, "X", 3)),
    ],
)
def test_a_given_tensor_that_was_overwritten_is_named_as_the_cause(engine, box, code, name, cause):
    verdict = engine.check(box.task(), code)

    (wrong,) = (one for one in verdict.names if one.name == name)
    assert (wrong.verdict, wrong.code) == ("wrong", f"{name}:overwritten:{cause[1]}")
    assert wrong.message.startswith(CAUSE.format(*cause))


def test_an_overwritten_tensor_that_no_longer_fits_is_named(engine):
    verdict = engine.check(LAYER.task(), "dX = dY @ W.T\ndY = dY.sum(0)\ndb = dY\ndW = X.T @ dY")

    assert (verdict.outcome, verdict.line) == ("error", 4)
    assert verdict.message.startswith("These shapes cannot be multiplied: `X.T` (3, 4) and `dY` (5,).")
    assert CAUSE.format(2, "dY", 4) in verdict.message


@pytest.mark.parametrize(
    ("code", "codes"),
    [
        ("dY = dY.clone()\ndX = dY @ W.T\ndW = X.T @ dY\ndb = dY.mean(0)", ["db:mean"]),
        ("dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.mean(0)\ndY = 0", ["db:mean"]),
        ("dX = dY @ W.T\nX, h = X.exp(), X\ndW = h.T @ (dY * dY.cos() + 3)\ndb = dY.sum(0)", ["dW:unrecognised"]),
        ("h = 2 * dY\ndY = h\ndX = dY @ W.T\ndW = X.T @ dY / 2\ndb = dY.sum(0) / 2", ["dX:doubled"]),
    ],
)
def test_an_overwriting_that_explains_nothing_is_not_named(engine, code, codes):
    verdict = engine.check(LAYER.task(), code)

    assert [one.code for one in verdict.names if one.code] == codes
    assert not any("overwrites" in one.message for one in verdict.names)


@pytest.mark.parametrize(
    "line",
    [
        "X = X.T.contiguous().T",
        "X = X.double()",
        "X = X.to('meta')",
        "X = torch.ones(1, dtype=int).expand(2**40)",
        "X = None",
        "del X",
    ],
)
def test_a_name_may_be_bound_to_anything(engine, line):
    verdict = engine.check(LAYER.task(), f"{SOLUTION}\n{line}")

    assert verdict.passed


def test_names_that_were_overwritten_cost_nothing_where_all_is_right(engine):
    assert engine.check(LAYER.task(), "dX = dY @ W.T\nX = X.T\ndW = X @ dY\ndb = dY.sum(0)").passed


@pytest.mark.parametrize("line", ["X = X.double()", "X = X.clone()"])
def test_the_same_values_in_another_coat_are_no_overwriting(engine, line):
    verdict = engine.check(
        LAYER.task(), f"{line}\ndX = dY @ W.T\ndW = X.float().T @ (dY * dY.cos() + 3)\ndb = dY.sum(0)"
    )

    assert [one.code for one in verdict.names if one.code] == ["dW:unrecognised"]


ROWS = Box(
    "rows",
    make_forward(
        "rows", "B: 8, V: 5, T: 3, D: 4", "C: [V, D]; Xb: [B, T] ints(V)", "y", "emb = C[Xb]\ny = emb.mean(1)\n"
    ),
    ("demb", "dC"),
    """demb = (dy / T)[:, None].expand(B, T, D)
dC = torch.zeros_like(C)
for k in range(B):
    for j in range(T):
        dC[Xb[k, j]] += demb[k, j]
""",
)

INNER = "    for j in range(T):\n        dC[Xb[k, j]] += demb[k, j]\n"


def of_curve(line, right):
    return Box("curve", make_forward("curve", "N: 4, C: 5", "x: [N, C]", "y", f"{line}\n"), ("dx",), f"dx = {right}")


SCORES = of_curve("y = F.log_softmax(x, 1)", "dy - y.exp() * dy.sum(1, keepdim=True)")
CURVE = of_curve("y = torch.tanh(x)", "dy * (1 - y ** 2)")


@pytest.mark.parametrize(
    ("box", "old", "new", "code", "words"),
    [
        (ROWS, INNER, "    dC[Xb[k]] += demb[k]\n", "dC:scatter-overwrite", "several times in one turn"),
        (ROWS, INNER, "    dC[Xb[k]] = demb[k]\n", "dC:scatter-overwrite", "a later write replaced"),
        (SCORES, "dy - y.exp() * dy.sum(1, keepdim=True)", "y.exp() + dy", "dx:upstream-missing", "are taken away"),
        (CURVE, "(1 - y ** 2)", "1 / torch.cosh(y)", "dx:output-for-input", "cosh of the output, `y`, and once"),
    ],
)
def test_two_slips_at_once_and_shares_that_meet_in_one_turn_are_named(engine, box, old, new, code, words):
    assert box.solution.count(old) == 1

    verdict = engine.check(box.task(grade="value"), box.solution.replace(old, new))

    (red,) = (one for one in verdict.names if one.verdict == "wrong")
    assert red.code == code
    assert words in red.message


@pytest.mark.parametrize(
    ("line", "solution", "slip", "said"),
    [
        ("y = x * 3.0", "dx = dy * 3.0", "dx = dy", "lacks the constant `3.0` of `x * 3.0`"),
        ("y = x * 3.0", "dx = dy * 3.0", "dx = 3.0 * dy * 3.0", "has the constant `3.0` of `x * 3.0` twice"),
        ("y = x / 3.0", "dx = dy / 3.0", "dx = dy / 3.0 / 3.0", "has the constant `3.0` of `x / 3.0` twice"),
        ("y = 3.0 * x", "dx = dy * 3.0", "dx = dy", "lacks the constant `3.0` of `3.0 * x`"),
    ],
)
def test_a_constant_of_the_line_that_is_missing_or_there_twice_is_named(engine, line, solution, slip, said):
    box = Box("constant", make_forward("constant", "N: 4, D: 3", "x: [N, D]", "y", line), ("dx",), solution)

    (wrong,) = engine.check(box.task(), slip).names

    assert said in wrong.message
