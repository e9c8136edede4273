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
VECTOR = box("vector", "N: 6, D: 4", "X: [N, D]; w: [D]", "y", "y = X @ w", "dX = dy[:, None] * w\ndw = X.T @ dy")
BOTH = Box(
    "both",
    make_forward("both", "N: 6, D: 4", "X: [N, D]", "S", "S = X @ X.T"),
    ("dX",),
    "dA = dS @ X\ndB = X.T @ dS\ndX = dA + dB.T",
)
CUBE = box(
    "cube", "B: 3, N: 5, D: 4", "s: [B, N, D]", "p", "p = s.softmax(2)", "ds = p * (dp - (dp * p).sum(2, keepdim=True))"
)
SQUASHED = box(
    "squashed",
    "N: 5, D: 4, H: 3",
    "X: [N, D]; W: [D, H]",
    "z",
    "h = torch.tanh(X)\nz = h @ W",
    "dX = (1 - h ** 2) * (dz @ W.T)",
)
WIDE = box(
    "wide",
    "N: 3, V: 40",
    "z: [N, V]; t: [N] ints(V)",
    "L",
    "L = F.cross_entropy(z, t)",
    "dz = (torch.softmax(z, 1) - F.one_hot(t, V)) / N",
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
PARABOLA = box("parabola", "N: 5", "x: [N]", "y", "y = x ** 2 + x", "dx = 2 * x * dy + dy")
SIDES = box("sides", "N: 5", "x: [N]; k: [N]", "y", "u = x ** 2\nv = x * k\ny = u + v", "dx = 2 * x * dy + dy * k")
WINNER = box(
    "winner", "N: 5, D: 4", "x: [N, D]", "y", "y = x.max(1, keepdim=True).values", "dx = F.one_hot(x.argmax(1), D) * dy"
)
CUT = box("cut", "N: 3, D: 7, K: 4", "x: [N, D]", "y", "y = x[:, :K]", "dx = F.pad(dy, (0, D - K))")
LOSER = box(
    "loser", "N: 5, D: 4", "x: [N, D]", "y", "y = x.min(1).values", "dx = F.one_hot(x.argmin(1), D) * dy[:, None]"
)
PICK = box(
    "pick",
    "N: 5, V: 7",
    "P: [N, V]; t: [N] ints(V)",
    "v",
    "v = P[torch.arange(N), t]",
    "dP = F.one_hot(t, V) * dv[:, None]",
)
LOOKUP = box(
    "lookup",
    "N: 9, V: 5, D: 3",
    "C: [V, D]; ix: [N] ints(V)",
    "e",
    "e = C[ix]",
    "dC = F.one_hot(ix, V).T.to(de.dtype) @ de",
)
TWICE = box(
    "twice",
    "N: 5, K: 6, H: 3",
    "X: [N, K]; Q: [K, H]; C: [N, H]; Z: [N, H]",
    "y",
    "p = X @ Q\nv = p + Z\nr = p * C\ny = v * r",
    "dv = dy * r\ndr = dy * v\ndp = dv + dr * C\ndX = dp @ Q.T",
)
SLOPE = box("slope", "N: 5, D: 4", "y: [N, D]; g: [N, D]", "d", "d = g * (1 - y ** 2)", "dy = dd * g * -2 * y")
BEND = box("bend", "N: 5, D: 4", "s: [N, D]; g: [N, D]", "d", "d = g * s * (1 - s)", "ds = dd * g * (1 - 2 * s)")
ASKS = box(
    "asks",
    "N: 5, T: 4, D: 3",
    "e: [N, T, D]; W: [D, D]; U: [D, D]",
    "s",
    "ask = e[:, -1:]\nq = ask @ W\nk = e @ U\ns = q * k",
    "dq = (ds * k).sum(1, keepdim=True)\ndk = ds * q\nde = dk @ U.T + F.pad(dq @ W.T, (0, 0, T - 1, 0))",
)
NORM = box(
    "norm",
    "N: 6, H: 4",
    "x: [N, H]; g: [1, H]",
    "y",
    "m = x.mean(0, keepdim=True)\nr = (x.var(0, keepdim=True, unbiased=False) + 1e-5) ** -0.5\n"
    "u = (x - m) * r\ny = g * u",
    "dx = g * r * (dy - dy.mean(0) - u * (dy * u).mean(0))",
)
WALK = box("walk", "N: 5", "q: []; z: []", "L", "r = q + z\nL = r ** 2", "dr = 2 * r\ndq = dr\ndz = dr")
EXP = "e = (z - z.max(1, keepdim=True).values).exp()\n"
PILED = box(
    "piled",
    "B: 4, T: 6, D: 5, H: 7",
    "X: [B, T, D]; W: [D, H]",
    "Y",
    "Y = X @ W",
    "dX = dY @ W.T\ndW = (X.mT @ dY).sum(0)",
)
ROWS = [
    (
        NORM,
        "dx = g * r * (dy - dy.mean(1, True) - u * (dy * u).mean(1, True))",
        "dx:wrong-axis",
        ["the sums run along other axes than in the rule"],
        [],
    ),
    # An edited sign: the forward has no minus, or it has.
    (
        LEFT,
        "dW = -dY @ X.T",
        "dW:sign",
        ["No minus stands on the way to `W` in front of the local derivative of `Y = W @ X`", "where `dW` is written"],
        ["Look for a minus in"],
    ),
    (LEFT, "dX = W.T @ -dY", "dX:sign", ["No minus stands on the way to `X` in front of the local derivative"], []),
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
    # A call keeps its brackets.
    (
        COLUMN,
        "dA = dY / A.numel()",
        "dA:local-missing:mul+factor:1/A.numel()",
        ["exactly `A.numel()` times too small"],
        [],
    ),
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
    # Nothing from above on any way.
    (PARABOLA, "dx = 2 * x + 1", "dx:upstream-missing", ["on each way that `x` takes"], []),
    (SIDES, "dx = 2 * x + k", "dx:upstream-missing", ["on each way that `x` takes"], []),
    # Whole rows and columns for one entry of each row.
    (WINNER, "dx = torch.zeros_like(x)\ndx[x.argmax(1)] = dy", "dx:index-every-row", ["whole rows"], []),
    (WINNER, "dx = torch.zeros_like(x)\ndx[:, x.argmax(1)] = dy", "dx:index-every-row", ["columns"], []),
    (LOSER, "dx = torch.zeros_like(x)\ndx[:, x.argmin(1)] = dy", "dx:index-every-row", ["columns"], []),
    (PICK, "dP = torch.zeros_like(P)\ndP[:, t] = dv", "dP:index-every-row", ["columns"], ["is right except"]),
    (PICK, "dP = torch.zeros_like(P)\ndP[:, t] += dv[:, None]", "dP:index-every-row", ["columns"], []),
    # What nobody wrote is not zero, whatever was in memory.
    (
        CUT,
        "dx = torch.empty_like(x)\ndx[:, :K] = dy",
        "dx:unset",
        ["`torch.empty_like(x)` in line 1 holds whatever was in memory", "`zeros_like` begins with zeros"],
        ["at some positions"],
    ),
    (CUT, "dx = x.new_empty(N, D)\ndx[:, :K] = dy", "dx:unset", ["`new_zeros` begins"], []),
    (
        CUT,
        "s = torch.empty(N, K)\ns[:] = dy\ndx = torch.empty(N, D)\ndx[:, :K] = s",
        "dx:unset",
        ["`torch.empty(N, D)` in line 3", "`zeros` begins"],
        [],
    ),
    # One share of a gradient that another line has added up.
    (TWICE, "dX = dr * C @ Q.T", "dX:term-missing", ["`dr * C` lacks a term"], ["cosine"]),
    # The output in the place of its gradient, which another form of the rule divides by.
    (WALK, "dr = 2 * r * L", "dr:wrong-upstream:L", ["its upstream gradient is `dL`"], ["divides"]),
    # A part of the forward line as it is, where its derivative belongs.
    (SLOPE, "dy = dd * g * (1 - y ** 2)", "dy:undifferentiated", ["by `g * (1 - y ** 2)` itself"], ["cosine"]),
    (BEND, "ds = dd * g * (s * (1 - s))", "ds:undifferentiated", ["derivative with respect to `s`"], ["neighbouring"]),
    # Of a share with one entry along an axis, any other is a number times it.
    (
        ASKS,
        "de = dk @ U.T + F.pad(dk[:, -1:] @ U.T, (0, 0, T - 1, 0))",
        "de:part-wrong:1",
        ["right except at the last position along axis 1"],
        ["one number per slice"],
    ),
    # The axes of a product of its own are not those of the output.
    (PILED, "dW = (X.mT @ dY).sum(1)", "dW:wrong-axis", ["runs over axis 1.", "along axis 0 (`B`), 4 times"], ["`T`"]),
    # Shares that are read where they go to.
    (LOOKUP, "dC = torch.zeros_like(C)\nfor i in ix:\n    dC[i] += de[i]", "dC:index-of-index", ["the i-th place"], []),
]


def submitted(one, lines):
    written = {line.split()[0] for line in lines.split("\n")} & set(one.require)
    return "\n".join(lines if line.split()[0] in written else line for line in one.solution.split("\n"))


@pytest.mark.in_turn
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
        (VECTOR, "dX = dy * w", ["Does each entry of `dy` meet all of `w`? Then `dy[:, None]`"], ["matrix product"]),
        (
            VECTOR,
            "dX = dy @ w",
            ["Between two vectors an `@` gives a single number", "`dy[:, None]`"],
            ["inner sizes"],
        ),
        (BOTH, "dX = dA + dB", ["`dB` is the share of a transpose: is it still to be"], ["matrix product"]),
        (BOTH, "dX = dS @ X.T", ["Without the `.T` behind `X` they would match"], ["another tensor"]),
        (LAYER, "dX = dY * W.T", ["In `Y = X @ W + b`, `X @ W` is a matrix product, `@`"], []),
        (LAYER, "dX = dY @ W", ["which operand has to be transposed"], ["entry by entry"]),
        (LAYER, "dX = dY @ W^T", ["There is no `T` in a box: the transpose comes after the tensor"], ["cannot"]),
        (LAYER, "dX = dY @ W.T^2", ["`^` is no power", "`x ** 2`"], []),
    ],
)
def test_a_product_of_the_wrong_kind_is_told_with_the_kind_of_the_forward(engine, one, lines, said, unsaid):
    verdict = engine.check(one.task(grade="value"), submitted(one, lines))

    told = " ".join([verdict.message, *(name.message for name in verdict.names)])
    assert all(word in told for word in said), told
    assert not any(word in told for word in unsaid), told


def test_a_gradient_under_a_name_that_was_written_already_is_told_by_its_name(engine):
    sides = box("walk", "N: 5", "x: [N]; y: [N]", "q", "q = x * y", "dx = dq * y\ndy = dq * x")

    verdict = engine.check(sides.task(), "dx = dq * y\ndx = dq * x")

    assert [(name.name, name.code) for name in verdict.names if name.code] == [("dx", "dx:exchanged:dy")]
    assert "Line 2 writes `dx` again, with the gradient that `dy` should be" in verdict.names[0].message


@pytest.mark.parametrize("rest", ["dx = da * a\nda = da + db * k", "s = da * 1\ndx = s * a\nda += db * k"])
@pytest.mark.parametrize("require", ["dx", "db da dx"])
def test_a_gradient_that_is_read_early_is_told_required_or_not(engine, rest, require):
    start = "t = torch.tanh(b)\ndb = dz * a * (1 - t ** 2)\nda = dz * t\n"
    source = "a = torch.exp(x)\nb = a * k\nz = torch.tanh(b) * a"
    forward = make_forward("early", "N: 5", "x: [N]; k: [N]", "z", source)
    early = Box("early", forward, tuple(require.split()), f"{start}da = da + db * k\ndx = da * a")

    verdict = engine.check(early.task(grade="value"), start + rest)

    (wrong,) = [name for name in verdict.names if name.verdict == "wrong"]
    assert wrong.code == "dx:order", wrong.message


@pytest.mark.parametrize(
    ("one", "lines", "said"),
    [
        (FUSED, "dz = (torch.softmax(z, 1) - F.one_hot(t, 5)) / N", "`5` is `V` here"),
        (FUSED, "o = torch.zeros(9, 5)\no[range(N), t] = 1\ndz = (torch.softmax(z, 1) - o) / N", "`9` is `N` here"),
        (LAYER, "dW = X.T @ dY.view(6, 3)", "`6` is `N` here. `3` is `H` here"),
    ],
)
def test_a_number_that_is_a_dim_here_is_named_where_it_stops_elsewhere(engine, one, lines, said):
    verdict = engine.check(one.task(grade="value"), submitted(one, lines))

    (wrong,) = [name for name in verdict.names if name.verdict == "wrong"]
    assert wrong.code.endswith(":size-hard-coded")
    assert said in wrong.message


@pytest.mark.parametrize(
    ("code", "above"),
    [
        ("dx = da - b\ndb = (da * x).sum(0)", ""),
        ("da = dy.T\ndx = da * b\ndb = (da * x).sum(0)", "da"),
        ("da = 2 * dy * (1 - y ** 2)\ndb = (da * x).sum(1)\ndx = da * b + 0 * db", "db"),
    ],
)
def test_the_cause_of_a_stop_is_above_it_only_if_it_is(engine, code, above):
    source = "a = x * b\ny = torch.tanh(a)"
    chain = box(
        "chain",
        "N: 5, D: 4",
        "x: [N, D]; b: [D]",
        "y",
        source,
        "da = dy * (1 - y ** 2)\ndx = da * b\ndb = (da * x).sum(0)",
    )

    verdict = engine.check(chain.task(grade="value"), code)

    assert verdict.outcome == "error"
    assert ("the cause is above it" in verdict.message) == bool(above), verdict.message
    assert f"at `{above}`" in verdict.message or not above
    assert verdict.message.startswith("With right numbers this line runs") == bool(above)


def test_an_edited_given_gradient_is_called_given_with_its_cure(engine):
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


TWO = box(
    "two",
    "N: 5, K: 6, T: 2, H: 3",
    "X: [N, K]; B: [K, T]; Q: [T, H]",
    "e",
    "p = X @ B\ne = p @ Q",
    "dp = de @ Q.T\ndX = dp @ B.T",
)
PICKED = box(
    "picked",
    "N: 6, V: 4",
    "P: [N, V]; t: [N] ints(V)",
    "v",
    "v = P[torch.arange(N), t]",
    "dP = torch.zeros_like(P).index_put((torch.arange(N), t), dv)",
)
LOOKED_UP = box(
    "looked-up",
    "V: 5, D: 3, N: 6",
    "C: [V, D]; ix: [N] ints(V)",
    "e",
    "e = C[ix]",
    "dC = torch.zeros_like(C).index_add_(0, ix, de)",
)
MAXIMUM = box(
    "maximum",
    "N: 6, D: 4",
    "x: [N, D]",
    "y",
    "y = x.max(1, keepdim=True).values",
    "dx = F.one_hot(x.argmax(1), D) * dy",
)
SOFTMAX = box(
    "softmax",
    "N: 6, D: 4",
    "x: [N, D]",
    "y",
    "y = torch.softmax(x, 1)",
    "dx = y * (dy - (dy * y).sum(1, keepdim=True))",
)
CONTEXTS = box(
    "contexts",
    "V: 5, D: 3, N: 6, B: 2",
    "C: [V, D]; ix: [N, B] ints(V)",
    "e",
    "e = C[ix]",
    "dC = torch.zeros_like(C).index_add_(0, ix.view(-1), de.view(-1, D))",
)
HEAP = box("heap", "N: 6, C: 3, O: 4, L: 8", "X: [N, C, L]; K: [O, C]", "Y", "Y = K @ X", "dX = K.T @ dY")
LINES = [
    # A gradient that no line writes, and what was written instead.
    (TANH, "y = torch.tanh(x)", ["Line 1 makes `y`, which is there already; a line `dx = …` is wanted."]),
    (TANH, "x = dy * (1 - y ** 2)", ["Line 1 gives `x` itself a new value; its gradient is called `dx`."]),
    (TANH, "print(dy * (1 - y ** 2))", ["Line 1 prints a value and gives it no name"]),
    (TANH, "n = 1\n# dx = dy * (1 - y ** 2)", ["Line 2 would make `dx`", "behind a `#` is not run"]),
    (TANH, "n = 1\n  # dx=dy", ["Line 2 would make `dx`"]),
    (TANH, "dx <- dy * (1 - y ** 2)", ["Line 1 compares `dx`, with `<`; a single `=` assigns it."]),
    (TANH, "dx <- 2 * dy", ["`<` compares, and `dx` does not exist yet. One `=` assigns"]),
    (TANH, "dx", ["`dx` does not exist: no line makes it. A line `dx = …` gives it a value."]),
    (TANH, "dy = (1 - y ** 2) * dx", ["`dx` does not exist: no line makes it."]),
    (TANH, "dx = ____\ndx = dy * (1 - y ** 2)", ["Line 1 still holds a blank."]),
    # A line that does nothing.
    (PICKED, "dP = torch.zeros_like(P)\ndP[torch.arange(N), t] == dv", ["Line 2 compares `dP`, with `==`"]),
    (LOOKED_UP, "dC = torch.zeros_like(C)\ndC.index_add(0, ix, de)", ["Line 2, `dC.index_add(0, ix, de)`, changes"]),
    (TANH, "dx = 2 * dy * (1 - y ** 2)\ndx / 2", ["Line 2, `dx / 2`, changes nothing"]),
    # As on paper, or in another language.
    (LAYER, "dX = tf.matmul(dY, W)", ["There is no `tf` in a box. `tf.matmul(dY, W)` is written `dY @ W` here."]),
    (LAYER, "dX = np.transpose(dY, (1, 0))", ["`np.transpose(dY, (1, 0))` is written `dY.permute((1, 0))` here."]),
    (LAYER, "dX = np.linalg * dY", ["There is no `np` in a box. What it does, torch mostly does"]),
    (LAYER, "dX = dY @ transpose(W)", ["There is no `transpose` in a box: the transpose of a matrix is `x.T`."]),
    (LAYER, "dX = dY @ inv(W)", ["no inverse but the transpose"]),
    (LAYER, "dX = dY @ W.inverse()", ["`W.inverse()` wants a square matrix"]),
    (LAYER, "dX = dY @ W.transpose", ["`W.transpose` is a function that was not called", "`.T` does the same"]),
    (LAYER, "dX = dY.dot(W.T)", ["`dot` takes two vectors", "`A @ B`"]),
    (LAYER, "dW = torch.outer(X, dY)", ["`outer` takes two vectors"]),
    (LAYER, "dX = torch.einsum('nh,hd->nd', dY, W)", ["the letter `h` stands for an axis of size 3, and for one of 4"]),
    (TANH, "dx = grad(y, x)", ["There is no `grad` in a box: here the backward pass is written by hand"]),
    (TANH, "dx = dy / sech(x)", ["There is no `sech` in a box: it is one over `torch.cosh(x)`."]),
    (TANH, "dx = dy * ln(x)", ["the natural logarithm is `torch.log(x)`"]),
    (LAYER, "db = dY(0, :)", ["a part of a tensor stands in square brackets, such as `dY[:, 0]`"]),
    (LAYER, "dX = dY.transpose() @ W", ["With more axes `.mT` exchanges the last two, and `.permute(1, 2, 0)` puts"]),
    (TANH, "dx = dy.copy()", ["A tensor has no `.copy`. It is `dy.clone()` here."]),
    (TANH, "dx = dy * (x = y)", ["inside of an expression a single `=` gives nothing a value; `==` compares"]),
    (WIDE, "dz = (torch.softmax(z, 1) - F.one_hot(t)) / N", ["`F.one_hot(t)` makes as many columns as"]),
    (CUBE, "ds = p * (dp - (dp * p).sum(2))", ["`(dp * p).sum(2)` has lost an axis; with `keepdim=True` it stays"]),
    (SQUASHED, "dX = (1 - h ** 2) * dz @ W.T", ["does `1 - h ** 2` meet `dz @ W.T` as a whole?"]),
    (
        box("sum", "N: 5", "x: [N]", "y", "u = torch.relu(x)\ny = u + x", "dx = dy * (x > 0)\ndx += dy"),
        "dx = dy * x > 0\ndx += dy",
        ["Line 1 makes `dx` by a comparison, which is computed last"],
    ),
    (TANH, "dx = dy * max(0, x)", ["Python's `max` picks one of its arguments as a whole", "`.clamp(…)`"]),
    (TANH, "dx = dy * sign(x)", ["it is `torch.sign`"]),
    # Shapes that do not meet.
    (TWO, "dX = de @ B.T", ["have no size in common", "Is another tensor meant, or another shape of one?"]),
    # A heap of matrices has the sizes of its matrices, and not those of the pile that torch makes of it.
    (HEAP, "dX = dY @ K", ["8 is not 4", "in which order do the two stand for it"]),
    (LAYER, "dW = X.T @ dY.sum(0)", ["`.sum(0)` takes an axis away", "a matrix product sums by itself"]),
    (LAYER, "dX = dY @ dY.sum()", ["`.sum()` takes an axis away"]),
    (LAYER, "dX = dY[0, 0] @ W.T", ["`dY[0, 0]` is a single number"]),
    (PICKED, "dP = F.one_hot(t, V) * dv", ["Is `dv` meant as a column", "`dv[:, None]`"]),
    (SOFTMAX, "dx = y * (dy - (dy * y).sum(1))", ["Is `(dy * y).sum(1)` meant as a column", "`keepdim=True`"]),
    (FUSED, "dz = torch.softmax(z, 1) - t", ["`t` holds places, one for each row; `F.one_hot` makes"]),
    (
        CONTEXTS,
        "dC = torch.zeros_like(C)\nfor k in range(N):\n    for j in range(B):\n        dC[ix[k, j]] += de[k]",
        ["A tensor cannot grow in place: is an index missing in `de[k]`? Line 4 stopped there"],
    ),
    (
        LAYER,
        "db = torch.zeros_like(b)\nfor n in range(1):\n    db += dY[:]",
        ["cannot grow in place: was a sum over an axis forgotten on the right? Line"],
    ),
    (LAYER, "dW = W.T @ dY", ["do the two give it in any order, or is another tensor meant?"]),
    (FUSED, "dz = t @ z", ["`t` holds places to look up"]),
    (
        PICK,
        "dP = torch.zeros_like(P)\ndP[t, torch.arange(N)] = dv",
        ["so the last index is size − 1. The two indices stand the other way round"],
    ),
    (MAXIMUM, "dx = x.max(1) * dy", ["take the values, `x.max(1).values`"]),
    (MAXIMUM, "dx = x.max(1, keepdim=True)", ["values and their places", "Write `.values` or `.indices`"]),
    (MAXIMUM, "dx = F.one_hot(x.max(1), D) * dy", ["values with their places, `.values` and `.indices`, where"]),
    (COLUMN, "dA = dY * c.repeat(D)", ["`c.repeat(D)` is given too little"]),
    (LOOKED_UP, "dC = torch.zeros_like(C).index_add_(1, ix, de)", ["is given 6 places and 3 slices along axis 1"]),
    (LOOKED_UP, "dC = torch.zeros_like(C).scatter_add_(0, ix, de)", ["`.index_add_` adds whole rows"]),
    (COLUMN, "dA, dc = dY", ["There are 2 names on the left of the `=`"]),
    # Of another kind than a tensor.
    (TANH, "dx = lambda g: g * (1 - y ** 2)", ["What the function would return is wanted"]),
    (TANH, "dx = [g for g in dy]", ["Tensors are added and multiplied whole, without a loop"]),
    (TANH, "dx = 1", ["`torch.full_like(x, …)` puts the same number at every entry"]),
    # `*` for `**`, and comparisons that come last.
    (TANH, "dx = dy * (1 - y * 2)", ["`y * 2` is a product where a power stands in the rule"]),
    (TANH, "dx = dy * (1 - 2 * y)", ["`2 * y` is a product where a power stands in the rule"]),
    (box("half", "N: 5", "x: [N]", "y", "y = 3 * x", "dx = 3 * dy"), "dx = dy ** 3", ["`dy ** 3` is a power where a"]),
    (
        box("gate", "N: 9", "x: [N]", "y", "y = torch.relu(x)", "dx = dy * (x > 0)"),
        "dx = dy * x > 0",
        ["lacks brackets"],
    ),
    # A dot of the blackboard is no sign, and one on the line no product.
    (TANH, "dx = dy·y", ["`dy * y` here, and of matrices `dy @ y`"]),
    (box("scaled", "N: 5", "x: [N]; b: []", "y", "y = x * b", "dx = dy * b"), "dx = dy.b", ["Write `dy * b`"]),
    # A column for a row of places, and a pair for places.
    (WINNER, "dx = torch.zeros_like(x)\ndx[range(N), x.argmax(1)] += dy", ["The place on the left", "`dy[:, 0]` is"]),
    (
        WINNER,
        "dx = torch.zeros_like(x)\ndx[torch.arange(N), x.argmax(1)] += dy",
        ["`dx[torch.arange(N), x.argmax(1)]` has shape", "`dy[:, 0]` is without its axis of size 1"],
    ),
    (
        WINNER,
        "dx = torch.zeros_like(x)\ndx[torch.arange(N), x.max(1)] += dy[:, 0]",
        ["an index wants the places, `x.max(1).indices`"],
    ),
    # Signs and upstreams.
    (TANH, "dx = dy * (y ** 2 - 1)", ["a difference the wrong way round"]),
    (TANH, "dx = y * (1 - y ** 2)", ["its upstream gradient is `dy`, the gradient of its output"]),
]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(("one", "lines", "said"), LINES, ids=[row[1] for row in LINES])
def test_a_line_from_elsewhere_is_told_with_what_it_lacks(engine, one, lines, said):
    code = submitted(one, lines)

    verdict = engine.check(one.task(grade="value"), lines if code == one.solution else code)

    told = " ".join([verdict.message, *(name.message for name in verdict.names)])
    assert not verdict.passed
    assert all(word in told for word in said), told
    assert "Error:" not in told


@pytest.mark.parametrize("line", ["dz = torch.softmax(z, 1) - 1", "dz = (z - F.one_hot(t, V)) / N"])
def test_no_upstream_is_missed_where_the_author_reads_none(engine, line):
    verdict = engine.check(FUSED.task(grade="value"), line)

    assert [name.verdict for name in verdict.names] == ["wrong"]
    assert "upstream" not in verdict.names[0].message


def test_a_quotient_of_two_sizes_is_not_called_too_large(engine):
    mean = box("mean", "B: 7, T: 3", "e: [B, T]", "b", "b = e.mean(1)", "de = db[:, None].expand(-1, T) / T")
    named = mean.task(grade="value", require=("de",))

    verdict = engine.check(named, "de = db[:, None].expand(-1, T) / B")

    assert "is exactly `T/B` times as large as it should be" in verdict.names[0].message


@pytest.mark.parametrize(("line", "said"), [("____", "still a blank in this line"), ("Q @ de", "Line 1 stopped there")])
def test_a_line_below_one_without_numbers_is_right_and_waits_for_it(engine, line, said):
    verdict = engine.check(TWO.task(grade="value"), f"dp = {line}\ndX = dp @ B.T")

    told = {one.name: one.message for one in verdict.names}
    assert said in told["dp"]
    assert told["dX"] == "Right as it stands; it waits for `dp`."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "db = sum(dY, 1)",
            "`sum(dY, 1)` is Python's own: it adds up along the first axis, and begins at `1`.",
        ),
        (
            "db = sum(dY, dim=0)",
            "`sum` is Python's own here and knows no axes. That of tensors is `torch.sum(dY, dim=0)`.",
        ),
        ("db = sum(dY, 0, keepdim=True)", "That of tensors is `torch.sum(dY, 0, keepdim=True)`."),
        (
            "db = max(dY, dim=0)",
            "`max` is Python's own here and knows no axes. That of tensors is `torch.max(dY, dim=0)`.",
        ),
        ("db = sum(dY.T)", "`sum(dY.T)` is Python's own: it adds up along the first axis. That of tensors is"),
    ],
)
def test_the_functions_of_python_are_told_from_those_of_tensors(engine, line, said):
    verdict = engine.check(LAYER.task(), f"dX = dY @ W.T\ndW = X.T @ dY\n{line}")

    message = next(one for one in verdict.names if one.name == "db").message
    assert said in message
    assert message.count("is Python's own") == 1


def test_the_sum_of_python_along_the_right_axis_is_right(engine):
    verdict = engine.check(LAYER.task(), "dX = dY @ W.T\ndW = X.T @ dY\ndb = sum(dY)")

    assert next(one for one in verdict.names if one.name == "db").verdict == "right"


def test_a_tensor_that_was_made_unset_and_written_everywhere_is_right(engine):
    verdict = engine.check(CUT.task(grade="value"), "dx = torch.empty_like(x)\ndx[:, :K] = dy\ndx[:, K:] = 0")

    assert verdict.passed, verdict


@pytest.mark.parametrize("lines", ["df = dz.clone()\ndf += dz * X + dv", "df = dz + dz * X + dv"])
def test_a_share_twice_under_another_name_of_its_upstream_is_told(engine, lines):
    fork = box("fork", "N: 5", "f: [N]; X: [N]", "z", "v = f * X\nz = v + f", "dv = dz\ndf = dz + dv * X")

    verdict = engine.check(fork.task(grade="value"), f"dv = dz\n{lines}")

    (wrong,) = [name for name in verdict.names if name.verdict == "wrong"]
    assert wrong.code == "df:share-doubled:z"
    assert "the share through `z` is exactly twice as large" in wrong.message


@pytest.mark.parametrize("factor", ["3", "N"])
def test_a_factor_that_is_missing_is_shown_in_the_line_that_has_it_alone(engine, factor):
    last = f"y = (s * {factor}).sum()"
    chain = box("chain", "N: 5", "x: [N]; w: [N]", "y", f"s = x * w\n{last}", "dx = dy\ndw = dy")

    verdict = engine.check(chain.task(grade="value"), f"dx = dy * w\ndw = dy * {factor} * x")

    (wrong,) = [name for name in verdict.names if name.verdict == "wrong"]
    assert f"compare with what `{last}` multiplies or divides by" in wrong.message


def test_a_number_that_is_one_less_than_a_size_is_named(engine):
    bessel = box("bessel", "N: 9, D: 3", "x: [N, D]", "y", "y = x.sum(0) / (N - 1)", "dx = dy")

    (wrong,) = engine.check(bessel.task(), "dx = torch.ones_like(x) * dy / 8").names

    assert wrong.code == "dx:size-hard-coded"
    assert "`8` in the code is a size" in wrong.message


def test_indices_are_called_exchanged_only_where_the_other_order_is_right(engine):
    (wrong,) = engine.check(PICK.task(), "dP = torch.zeros_like(P)\ndP[t, torch.arange(N)] = 2 * dv").names

    assert "so the last index is size − 1" in wrong.message
    assert "the other way round" not in wrong.message
