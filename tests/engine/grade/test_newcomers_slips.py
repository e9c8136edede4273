"""Slips that newcomers make: each is told as what it is, in the words of the learner's and of the forward line."""

import pytest

from tests.grading.boxes.load import Box, make_forward


def box(name, dims, inputs, output, source, solution):
    require = tuple(dict.fromkeys(line.split()[0] for line in solution.split("\n")))
    return Box(name, make_forward(name, dims, inputs, output, source), require, solution)


LEFT = box("left", "N: 5, D: 4, H: 3", "W: [H, D]; X: [D, N]", "Y", "Y = W @ X", "dW = dY @ X.T\ndX = W.T @ dY")
COLUMN = box(
    "column", "N: 5, D: 4", "A: [N, D]; c: [N, 1]", "Y", "Y = A * c", "dA = dY * c\ndc = (dY * A).sum(1, keepdim=True)"
)
LAYER = box(
    "layer",
    "N: 6, D: 4, H: 3",
    "X: [N, D]; W: [D, H]; b: [H]",
    "Y",
    "Y = X @ W + b",
    "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)",
)
TANH = box("tanh", "N: 5, D: 4", "x: [N, D]", "y", "y = torch.tanh(x)", "dx = dy * (1 - y ** 2)")
FUSED = box(
    "fused",
    "N: 9, V: 5",
    "z: [N, V]; t: [N] ints(V)",
    "L",
    "L = F.cross_entropy(z, t)",
    "dz = (torch.softmax(z, 1) - F.one_hot(t, V)) / N",
)
EXP = "e = (z - z.max(1, keepdim=True).values).exp()\n"
ROWS = [
    # An edited sign: the forward has no minus, or it has.
    (LEFT, "dW = -dY @ X.T", "dW:sign", ["`Y = W @ X` has no minus", "where `dW` is written"], ["Look for a minus in"]),
    (LEFT, "dX = W.T @ -dY", "dX:sign", ["`Y = W @ X` has no minus"], []),
    # What is summed is not passed on unchanged.
    (COLUMN, "dc = dY.sum(1, keepdim=True)", "dc:local-missing:mul", ["adds up `dY` as it is"], ["unchanged"]),
    # Operations are called as the forward writes them.
    (COLUMN, "dc = dY @ A.T", "dc:matmul-not-elementwise", ["`*` acts entry by entry"], ["mul"]),
    # Numbers that are fixed, and wrong as well.
    (LAYER, "db = torch.ones(3)", "db:size-hard-coded", ["not those of the gradient", "`dY`"], ["x.shape[0]"]),
    # The sum of products is no product of sums.
    (
        COLUMN,
        "dc = dY.sum(1, keepdim=True) * A.sum(1, keepdim=True)",
        "dc:sums-multiplied",
        ["multiplies two sums"],
        [],
    ),
    (COLUMN, "dc = dY.sum(1) * A.sum(1)", "dc:sums-multiplied", ["multiplies two sums"], []),
    # Brackets.
    (TANH, "dx = 1 - y ** 2 * dy", "dx:brackets", ["lacks brackets"], []),
    (TANH, "dx = dy * 1 - y ** 2", "dx:brackets", ["lacks brackets"], []),
    # A rule in another form.
    (TANH, "dx = dy / torch.cosh(x)", "dx:square-missing", ["cosh once"], []),
    # What does not belong there is named alone.
    (TANH, "dx = (dy * (1 - y ** 2)).sum(0)", "dx:function-extra:sum", ["`.sum(0)` does something"], []),
    (TANH, "dx = (dy * (1 - y ** 2)).mean()", "dx:function-extra:mean", ["`.mean()` does something"], ["is zero"]),
    # Softmax and labels by index.
    (FUSED, EXP + "p = e / e.sum(1, keepdim=True)\np[t] -= 1\ndz = p / N", "dz:index-every-row", ["whole rows"], []),
    (FUSED, EXP + "p = e / e.sum()\np[range(N), t] -= 1\ndz = p / N", "dz:summed-all", ["whole table"], []),
    (FUSED, "dz = (torch.softmax(z, 1) - F.one_hot(t, V)) / V", "dz:factor:N/V", ["exactly `N/V` times"], ["terms"]),
    (FUSED, "dz = (torch.softmax(z, 1) - F.one_hot(t, V)).mean()", "dz:shape", ["shape `()`"], ["is zero"]),
]


def submitted(one, lines):
    written = {line.split()[0] for line in lines.split("\n")} & set(one.require)
    return "\n".join(lines if line.split()[0] in written else line for line in one.solution.split("\n"))


@pytest.mark.parametrize(("one", "lines", "code", "said", "unsaid"), ROWS, ids=[row[1] for row in ROWS])
def test_a_newcomers_slip_is_told_as_what_it_is(engine, one, lines, code, said, unsaid):
    verdict = engine.check(one.task(grade="value"), submitted(one, lines))

    (wrong,) = [name for name in verdict.names if name.verdict == "wrong"]
    assert wrong.code == code, wrong.message
    assert all(word in wrong.message for word in said), wrong.message
    assert not any(word in wrong.message for word in unsaid), wrong.message


@pytest.mark.parametrize(
    ("one", "lines", "said", "unsaid"),
    [
        (COLUMN, "dA = dY @ c", ["`Y = A * c` multiplies entry by entry"], ["has to be transposed"]),
        (LAYER, "dX = dY * W.T", ["`Y = X @ W + b` is a matrix product, `@`"], []),
        (LAYER, "dX = dY @ W", ["which operand has to be transposed"], ["entry by entry"]),
    ],
)
def test_a_product_of_the_wrong_kind_is_told_with_the_kind_of_the_forward(engine, one, lines, said, unsaid):
    verdict = engine.check(one.task(grade="value"), submitted(one, lines))

    told = " ".join([verdict.message, *(name.message for name in verdict.names)])
    assert all(word in told for word in said), told
    assert not any(word in told for word in unsaid), told


def test_a_given_gradient_that_is_edited_is_called_one_and_the_cure_is_named(engine):
    verdict = engine.check(TANH.task(grade="value"), "dy *= 1 - y ** 2\ndx = dy")

    (wrong,) = [name for name in verdict.names if name.verdict == "mutated"]
    assert "the given gradient `dy` itself" in wrong.message
    assert "`dy.clone()`" in wrong.message


def test_an_index_with_two_axes_is_explained(engine):
    scatter = box(
        "scatter",
        "V: 5, D: 3, N: 4, K: 2",
        "C: [V, D]; ix: [N, K] ints(V)",
        "e",
        "e = C[ix]",
        "dC = torch.zeros_like(C).index_add_(0, ix.view(-1), de.view(-1, D))",
    )
    verdict = engine.check(scatter.task(grade="value"), "dC = torch.zeros_like(C)\ndC.index_add_(0, ix, de)")

    told = " ".join([verdict.message, *(name.message for name in verdict.names)])
    assert "its index has 2 axes" in told
    assert "IndexError" not in told


def test_a_share_that_nobody_writes_is_not_remarked_upon(engine):
    source = "m = z.max(1, keepdim=True).values\ns = z - m\nL = -F.log_softmax(s, 1)[range(N), t].mean()"
    fused = box("shifted", "N: 9, V: 5", "z: [N, V]; t: [N] ints(V)", "L", source, FUSED.solution)

    verdict = engine.check(fused.task(grade="value"), fused.solution)

    assert verdict.passed
    assert [name.note for name in verdict.names] == [""]
