"""Programs as authors write them become straight lines: what is written out, under which names, and what cannot be."""

import pytest

from app.content.blocks import Forward
from app.course.parse import parse_lesson

TOP = "---\ntitle: T\nid: t\nestimate: 1 min\n---\n\n"
INPUTS = "X: [N, T], W: [T, T], V: [2, T, T], h0: [N, T]"


def lesson(program, output="Y", more=""):
    fence = f"```{{forward}} f\n:dims: {{N: 5, T: 3, one: 1}}\n:inputs: {{{INPUTS}}}\n:output: {output}\n{more}"
    return parse_lesson(f"{TOP}{fence}{program.strip()}\n```\n", "1-a/01-t.md")


def straight(program, output="Y", more=""):
    read, errors = lesson(program, output, more)
    assert [str(one) for one in errors] == []
    (forward,) = (one for one in read.blocks if isinstance(one, Forward))
    return forward


WRITTEN_OUT = {
    "a loop over a dim": (
        "h = h0\nfor t in range(T):\n    h = torch.tanh(h @ W)\nY = h * 2",
        "h_0 = torch.tanh(h0 @ W)\nh_1 = torch.tanh(h_0 @ W)\nh_2 = torch.tanh(h_1 @ W)\nY = h_2 * 2",
    ),
    "the last turn has the name of the output": (
        "Y = h0\nfor t in range(1, T):\n    Y = Y @ W + X[:, t - 1:t]",
        "Y_1 = h0 @ W + X[:, 0:1]\nY = Y_1 @ W + X[:, 1:2]",
    ),
    "a sum that begins with 0": (
        "Y = 0\nfor t in range(2):\n    Y += X @ V[t]",
        "Y_0 = X @ V[0]\nY = Y_0 + X @ V[1]",
    ),
    "a function, once with each name": (
        "def layer(x, A, b=2):\n    z = x @ A\n    return torch.tanh(z) * b\nu = layer(X, W)\nY = layer(u, W, b=3)",
        "z = X @ W\nu = torch.tanh(z) * 2\nz_2 = u @ W\nY = torch.tanh(z_2) * 3",
    ),
    "a function that returns two": (
        "def both(x):\n    a = x * 2\n    b = x + a\n    return a, b\np, q = both(X)\nY = p * q",
        "p = X * 2\nq = X + p\nY = p * q",
    ),
    "a function in one line": ("f = lambda x: x @ W\nY = f(X) + 1", "Y = X @ W + 1"),
    "a function of a function": (
        "def f(x):\n    return x * 2\ndef g(x):\n    y = f(x)\n    return y + 1\nY = g(X)",
        "y = X * 2\nY = y + 1",
    ),
    "a branch on a size": ("if N > T:\n    U = X * 2\nelse:\n    U = X * 3\nY = U + 1", "U = X * 2\nY = U + 1"),
    "a choice in a turn": (
        "h = X\nfor t in range(2):\n    h = h @ W if t == 0 else h * 2\nY = h + 1",
        "h_0 = X @ W\nh_1 = h_0 * 2\nY = h_1 + 1",
    ),
    "a list that is joined": (
        "hs = []\nfor t in range(2):\n    hs.append(X @ V[t])\nY = torch.cat(hs, 1) + hs[-1].sum()",
        "hs_0 = X @ V[0]\nhs_1 = X @ V[1]\nY = torch.cat([hs_0, hs_1], 1) + hs_1.sum()",
    ),
    "heads from a comprehension": (
        "def head(A):\n    s = X @ A\n    return s\nheads = [head(V[i]) for i in range(2)]\nY = torch.cat(heads, 1)",
        "A_0 = V[0]\ns_0 = X @ A_0\nA_1 = V[1]\ns_1 = X @ A_1\nY = torch.cat([s_0, s_1], 1)",
    ),
    "a turn over lists": (
        "Y = X\nfor i, A in enumerate([W, V[0]]):\n    Y = Y @ A * (i + 1)",
        "Y_0 = X @ W * 1\nY = Y_0 @ V[0] * 2",
    ),
    "results by name": (
        "top = (X @ W).max(1)\nY = top.values * top.indices",
        "top = X @ W\nY = top.max(1).values * top.max(1).indices",
    ),
    "parts by number": (
        "q = X.split(1, 1)\nY = q[0] * q[2]",
        "Y = X.split(1, 1)[0] * X.split(1, 1)[2]",
    ),
    "a loop in a loop": (
        "h = X\nfor i in range(2):\n    for j in range(2):\n        h = h * (j + 1)\nY = h * 2",
        "h_0_0 = X * 1\nh_0_1 = h_0_0 * 2\nh_1_0 = h_0_1 * 1\nh_1_1 = h_1_0 * 2\nY = h_1_1 * 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN_OUT, ids=str)
def test_a_program_is_written_out_as_a_straight_line(case):
    program, expected = WRITTEN_OUT[case]

    assert straight(program).source == expected + "\n"


def test_a_straight_line_stays_as_its_author_wrote_it():
    program = "U = X@W  # one product\n\nY = U*2\n"

    assert straight(program).source == program
    assert straight(program).lines == ()


def test_an_output_that_is_read_on_is_handed_out_as_a_copy():
    forward = straight("c = X * 2\nh = torch.tanh(c)", "h, c")

    assert forward.source == "c_inner = X * 2\nh = torch.tanh(c_inner)\nc = c_inner.clone()\n"
    assert forward.written_out == {"c_inner"}
    assert forward.outputs == ("h", "c")
    assert forward.upstreams == ("dh", "dc")


def test_each_line_knows_the_line_of_its_author():
    forward = straight("h = h0\nfor t in range(2):\n    a = h @ W\n    h = torch.tanh(a)\nY = h * 2\n")

    assert [forward.line_of(line) - forward.source_line + 1 for line in (1, 2, 3, 4, 5)] == [3, 4, 3, 4, 5]


def test_what_a_loop_and_a_branch_ask_for_keeps_its_size():
    program = "h = h0\nfor t in range(T):\n    h = h @ W\nif one == 1:\n    Y = h * 2\n"

    assert straight(program).hidden == {"T": (3, 3), "one": (1, 1)}


def test_constants_stand_above_the_program():
    forward = straight("Y = X * k + A.sum()", more=":constants: {k: 0.5, A: [[1, 2], [3, 4]]}\n")

    assert forward.source == "k = 0.5\nA = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nY = X * k + A.sum()\n"
    assert forward.line_of(3) == forward.source_line
    assert forward.line_of(1) < forward.source_line


OUTSIDE = {
    "a loop over a tensor": ("for x in X:\n    Y = x * 2", 1, "depends-on-data"),
    "a loop as long as the data say": ("for i in range(X.sum()):\n    Y = X * 2", 1, "depends-on-data"),
    "a branch on entries": ("U = X * 2\nif U.sum() > 0:\n    Y = U * 2", 2, "depends-on-data"),
    "entries that a mask picks": ("m = X > 0\nY = X[m] * 2", 2, "depends-on-data"),
    "entries that are counted": ("Y = X[torch.nonzero(X)] * 2", 1, "depends-on-data"),
    "a while": ("while True:\n    Y = X * 2", 1, "not-straight-line"),
    "an import": ("import torch\nY = X * 2", 1, "not-straight-line"),
    "a class": ("class A:\n    pass\nY = X * 2", 1, "not-straight-line"),
    "a break": ("for t in range(T):\n    break\nY = X * 2", 2, "not-straight-line"),
    "an input in place": ("X += 1\nY = X * 2", 1, "in-place"),
    "an input in place in a turn": ("for t in range(2):\n    X += 1\nY = X * 2", 2, "in-place"),
    "an entry in place": ("Y = X * 2\nY[0] = 1", 2, "in-place"),
    "a function that returns early": ("def f(x):\n    if N:\n        return x\n    return x\n", 3, "not-straight-line"),
    "a function without a result": ("def f(x):\n    y = x * 2\nY = f(X)", 2, "not-straight-line"),
    "a function that calls itself": ("def f(x):\n    return f(x)\nY = f(X)", 2, "not-straight-line"),
    "a call that does not fit": ("def f(x, y):\n    return x * y\nY = f(X)", 3, "not-straight-line"),
    "a function as a value": ("def f(x):\n    return x * 2\nY = torch.vmap(f)(X)", 3, "not-straight-line"),
    "a turn past the end of a list": ("hs = [X, W]\nY = hs[2] * 2", 2, "not-straight-line"),
    "a loop without end": ("Y = X\nfor t in range(10 ** 9):\n    Y = Y * 2", 2, "depends-on-data"),
    "more lines than a page holds": ("Y = X\nfor t in range(600):\n    Y = Y * 2", 2, "too-long"),
    "loops in empty loops": ("for i in range(999):\n    for j in range(9):\n        pass\nY = X", 1, "too-long"),
    "a value that is lost": ("print(X)\nY = X * 2", 1, "not-straight-line"),
    "a name that nobody wrote, once for all turns": ("Y = X\nfor t in range(T):\n    Y = Y * k", 3, "unknown-name"),
    "a name written twice outside of loops": ("for t in range(2):\n    pass\nY = X * 2\nY = X * 3", 4, "written-twice"),
    "an output that is an input": ("for t in range(2):\n    h0 = h0 * 2\nY = h0 * 2", 3, "written-twice"),
}  # fmt: skip


@pytest.mark.parametrize("case", OUTSIDE, ids=str)
def test_what_stays_outside_is_told_once_and_at_its_line(case):
    program, line, code = OUTSIDE[case]
    output = "h0" if case == "an output that is an input" else "Y"

    _, (error,) = lesson(program, output)

    assert (error.code, error.place.line - 10) == (code, line)
    assert error.fix or error.message.endswith(".")


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("Y[X < 0] = 0", "Y2 = torch.where(X < 0, 0, Y)"),
        ("Y[(X > 1) & ~(X > 2)] = X + 1", "Y2 = torch.where((X > 1) & ~(X > 2), X + 1, Y)"),
        ("Y[X < 0] *= 0.1", "Y2 = torch.where(X < 0, Y * 0.1, Y)"),
        ("Y[0] = 1", "torch.stack(hs, 1)"),
    ],
)
def test_a_write_under_a_mask_is_answered_with_where(line, instead):
    _, (error,) = lesson(f"Y = X * 2\n{line}")

    assert instead in error.fix


def test_a_program_longer_than_a_box_takes_is_not_called_no_python():
    _, (error,) = lesson("Y = X * 2\n" + "# more\n" * 8_000)

    assert error.code == "too-long"
    assert error.message == "The forward program has 56,010 characters; a box takes 50,000."


def test_a_program_of_another_lesson_is_reused():
    home = f"{TOP}```{{forward}} cell\n:inputs: {{x: [3]}}\n:output: y\ny = x * 2\n```\n"
    guest = f"{TOP}```{{forward}} mine\n:from: 01-home.md#cell\n:show: false\n```\n"

    read, errors = parse_lesson(guest, "1-a/02-t.md", beside=lambda name: home if name == "01-home.md" else None)

    assert errors == ()
    assert read is not None
    assert (read.forwards["mine"].source, read.forwards["mine"].show) == ("y = x * 2\n", False)


@pytest.mark.parametrize(
    ("address", "code"), [("01-away.md#cell", "broken-link"), ("01-home.md#sell", "unknown-forward")]
)
def test_a_program_that_is_nowhere_is_told(address, code):
    home = f"{TOP}```{{forward}} cell\n:inputs: {{x: [3]}}\n:output: y\ny = x * 2\n```\n"
    guest = f"{TOP}```{{forward}} mine\n:from: {address}\n```\n"

    _, (error,) = parse_lesson(guest, "1-a/02-t.md", beside=lambda name: home if name == "01-home.md" else None)

    assert (error.code, error.place.line) == (code, 8)
