"""What stands at the ends of lines: shapes in the names of dims, whether gradients fit, what cannot meet and where."""

import ast
from collections.abc import Hashable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cache import LruCache
from app.content.blocks import Bug, Forward, Grad, Input, SourceLocation
from app.engine.task import HuntTask, task_of
from app.grading.judge.line_shapes import InlayShapes, ground_of_calls, ground_of_program, infer_line_shapes
from app.grading.reading.line_reader import KeepLine, KeptLine
from app.sandbox.vocabulary import ATTRIBUTES
from tests.courses import LESSONS, course_in

METHODS = Path(__file__).resolve().parents[3] / "static/js/methods.js"


def forward(source: str = "Y = X @ W + b", **dims: int) -> Forward:
    sizes = {"N": 32, "D": 100, "H": 27} | dims
    inputs = (
        Input(name="X", sizes=("N", "D")),
        Input(name="W", sizes=("D", "H")),
        Input(name="b", sizes=("H",)),
        Input(name="t", sizes=("N",), distribution="ints", bound="H"),
    )
    place = SourceLocation("test.md", 1)
    return Forward(place=place, name="f", dims=sizes, inputs=inputs, output="Y", source=source, source_line=1)


def keeping() -> KeepLine:
    return LruCache[Hashable, KeptLine | None](100).of


def told(code: str, program: Forward | None = None) -> InlayShapes:
    return infer_line_shapes(code, ground_of_program(program or forward(), ["dY"]), keeping())


def texts(code: str, program: Forward | None = None) -> dict[int, str]:
    return {one.line: one.text for one in told(code, program).lines}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("a = X.T @ dY", "(D, H)"),
        ("a = dY.sum(0)", "(H,)"),
        ("a = dY.sum()", "()"),
        ("a = dY.sum(1, keepdim=True)", "(N, 1)"),
        ("a = X.view(-1)", "(N·D,)"),
        ("a = torch.cat([X, X], 1)", "(N, 2·D)"),
        ("a = X[1:]", "(N-1, D)"),
        ("a = X[:, :3]", "(N, 3)"),
        ("a = X.reshape(32, 10, 10)", "(32, 10, 10)"),
        ("a, b = X.max(1)", "(N,), (N,)"),
        ("a = (X.T @ dY,)", "(D, H)"),
        ("X.T @ dY", "(D, H)"),
        ("a = dY[torch.arange(N), t]", "(N,)"),
        ("dW = torch.zeros_like(W)\ndW += X.T @ dY", "(D, H) like W"),
        ("def f(a):\n    return a.T\nc = f(X)", "(D, N)"),
        ("for i in range(2):\n    c = X[i]", "(D,)"),
    ],
)
def test_a_line_ends_in_the_shape_that_it_gives(code, text):
    assert list(texts(code).values())[-1] == text


def of_numbers() -> Forward:
    x = Input(name="x", sizes=())
    place = SourceLocation("test.md", 1)
    return Forward(place=place, name="f", dims={}, inputs=(x,), output="y", source="y = 3 * x", source_line=1)


def test_of_a_number_whose_gradient_is_one_nothing_is_told():
    lines = infer_line_shapes("dx = 3 * dy\ntwice = 2 * dx", ground_of_program(of_numbers(), ["dy"])).lines

    assert [(one.line, one.text) for one in lines] == [(2, "()")]


def test_about_a_program_without_sizes_a_text_is_read_once():
    read: list[str] = []

    def keep(key, make):
        return read.append(key[0]) or make()

    told = infer_line_shapes("dx = 3 * dy\nfour = torch.ones(4)", ground_of_program(of_numbers(), ["dy"]), keep)

    assert read == ["dx = 3 * dy", "four = torch.ones(4)"]
    assert [(one.name, one.shape) for one in told.names] == [
        ("x", "()"),
        ("y", "()"),
        ("dy", "()"),
        ("dx", "()"),
        ("four", "(4,)"),
    ]


def test_a_gradient_is_told_to_fit_or_not():
    lines = {one.line: (one.text, one.fits) for one in told("dW = X.T @ dY\ndX = (dY @ W.T).T\ntmp = X.T").lines}

    assert lines == {1: ("(D, H) like W", True), 2: ("(D, N), X is (N, D)", False), 3: ("(D, N)", None)}


@pytest.mark.parametrize(
    ("code", "text", "place"),
    [
        ("dW = X @ dY", "(N, D) @ (N, H): D is not N", "X @ dY"),
        ("a = 1 + (X + dY)", "(N, D) + (N, H): D is not H", "X + dY"),
        ("a = F.linear(dY, W.T).sum() if False else X * b", "(N, D) * (H,): D is not H", "X * b"),
        ("a = torch.cat([X, dY])", "(N, D) and (N, H) cannot cat: D is not H", "torch.cat([X, dY])"),
        ("a = X.view(7, 7)", "(N, D) and (7, 7) cannot view", "X.view(7, 7)"),
        ("a = X > dY", "(N, D) and (N, H) cannot compare: D is not H", "X > dY"),
        ("a = F.linear(X, W)", "(N, D) and (D, H) cannot F.linear: D is not H", "F.linear(X, W)"),
        ("a = torch.stack([X, dY])", "(N, D) and (N, H) cannot stack", "torch.stack([X, dY])"),
        ("a = torch.maximum(X, dY)", "(N, D) and (N, H) cannot meet: D is not H", "torch.maximum(X, dY)"),
        ("a = b.expand(N, D)", "(H,) and (N, D) cannot expand: H is not D", "b.expand(N, D)"),
        ("a = X.clone()\na += dY", "(N, D) + (N, H): D is not H", "a += dY"),
        ("a = b.clone()\na += dY", "(N, H) += (H,)", "a += dY"),
        ("a = b.clone()\na.add_(dY)", "(N, H) .add_ (H,)", "a.add_(dY)"),
        ("a = dY.clone()\na[0] = X[0]", "(D,) = (H,)", "a[0]"),
        (
            "a = torch.einsum('nd,nh->d', X, W)",
            "(N, D) and (D, H) cannot einsum, letter n: N is not D",
            "torch.einsum('nd,nh->d', X, W)",
        ),
        ("a = F.mse_loss(X, dY)", "(N, D) and (N, H) cannot meet: D is not H", "F.mse_loss(X, dY)"),
        ("a = F.cross_entropy(X, b)", "(N, D) and (H,) cannot meet in a loss", "F.cross_entropy(X, b)"),
        ("a = F.layer_norm(X, (H,))", "(N, D) and (H,) cannot standardise", "F.layer_norm(X, (H,))"),
        ("a = torch.inverse(X)", "(N, D) and (D, D) cannot be square: N is not D", "torch.inverse(X)"),
        ("µ = 'ü'; a = X @ dY", "(N, D) @ (N, H): D is not N", "X @ dY"),
    ],
)
def test_shapes_that_cannot_meet_are_told_with_their_place(code, text, place):
    (one,) = [one for one in told(code).lines if one.collides]

    assert one.text == text
    assert code.split("\n")[one.start[0] - 1][one.start[1] : one.end[1]] == place


@pytest.mark.parametrize(
    "code",
    [
        "a = X[X > 0]",
        "a = F.one_hot(t)",
        "a = torch.zeros(int(X.sum()))",
        "a = unknown @ W",
        "a = X.nonzero()",
        "a = ____",
        "a = open('/etc/passwd')",
        "a = X.T.view(-1)",
        "a = N * 2",
        "a = missing.T\nc = a @ W",
        "while X.sum() > 0:\n    a = X[a]",
    ],
)
def test_what_cannot_be_known_is_silent(code):
    assert texts(code) == {}


@pytest.mark.parametrize(
    "code",
    [
        "a = X\nfor i in range(4):\n    a = torch.cat([a, X])\n    if X[0, 0] > 0:\n        break",
        "a = X\nfor i in range(180):\n    for j in range(180):\n        a = torch.cat([a, X])",
        "def f(x):\n    if x.sum() > 0:\n        return x\n    return x.T\na = f(X)",
        "a = X\nif X.sum() > 0:\n    a = X.T",
    ],
    ids=["a loop that may end", "more turns than are read", "a function of two ends", "a branch"],
)
def test_a_name_whose_shape_depends_on_the_way_is_told_as_nothing(code):
    names = {one.name for one in told(f"{code}\nc = a").names if one.line}

    assert "c" not in names


def test_a_line_that_is_no_python_yet_silences_no_other():
    assert texts("dX = dY @\ndW = X.T @ dY\ndb = dY.sum(0") == {2: "(D, H) like W"}


def test_an_unknown_name_is_forgotten_and_not_remembered_as_it_was():
    assert texts("a = X\na = a[X > 0]\nc = a.T") == {1: "(N, D)"}


def test_names_are_told_with_their_shape_and_where_they_were_made():
    program = forward("h = X @ W\nY = h + b")
    names = {one.name: one for one in told("dh = dY\nc = X.T", program).names}

    assert (names["X"].shape, names["X"].numbers, names["X"].made, names["X"].line) == ("(N, D)", "(32, 100)", "", 0)
    assert (names["h"].made, names["dY"].shape, names["c"].shape, names["c"].line) == (
        "h = X @ W",
        "(N, H)",
        "(D, N)",
        2,
    )


def test_sizes_that_are_alike_here_are_told_apart_by_the_others():
    """D and H are both 27 on the lesson's sizes; on others they are not."""
    assert texts("dW = dY.T @ X", forward(D=27, H=27)) == {1: "(H, D), W is (D, H)"}


LARGE = {"N": 5000, "D": 784, "H": 128}


def test_a_program_on_large_data_is_read_on_smaller_ones():
    program = forward("h = X @ W\nY = h + b", **LARGE)
    everything = told("dW = X.T @ dY\nc = X[1:]\nd = X[N // 2 :]\ne = X @ dY", program)
    numbers = {one.name: one.numbers for one in everything.names}

    assert {one.line: one.text for one in everything.lines} == {
        1: "(D, H) like W",
        2: "(N-1, D)",
        3: "(?, D)",
        4: "(N, D) @ (N, H): D is not N",
    }
    assert (numbers["h"], numbers["dW"], numbers["c"]) == ("(5000, 128)", "(784, 128)", "(4999, 784)")
    assert numbers["d"] == "(?, 784)"


def test_a_size_of_one_has_no_name_and_one_of_two_has():
    assert texts("a = X.T @ dY", forward(N=5, D=2, H=1)) == {1: "(D, 1)"}
    assert texts("a = dY.sum(0, keepdim=True)", forward(H=2)) == {1: "(1, H)"}


def test_a_function_is_read_with_the_arguments_of_a_case():
    ground = ground_of_calls("f", ("a", "b"), "a = torch.randn(4, 3)\nb = torch.randn(3, 2)")

    assert {
        one.line: one.text for one in infer_line_shapes("def f(a, b):\n    c = a @ b\n    return c.T", ground).lines
    } == {
        2: "(4, 2)",
        3: "(2, 4)",
    }


def test_every_line_of_every_solution_has_a_shape_and_gradients_fit():
    for lesson in course_in(LESSONS).lessons:
        for box in (one for one in lesson.exercises if isinstance(one, Grad | Bug)):
            task = task_of(lesson, box)
            task = task.mending if isinstance(task, HuntTask) else task
            ground = ground_of_program(task.forward, (*task.forward.upstreams, *task.given))
            everything = infer_line_shapes(box.solution.source, ground)
            lines = {one.line: one for one in everything.lines}
            written = {one.end_lineno for one in ast.parse(box.solution.source).body}

            numbers = {one.line for one in everything.names if one.shape == "()"}
            assert written - set(lines) <= numbers, f"{lesson.path}: {box.name}"
            assert not [one for one in lines.values() if one.fits is False or one.collides]


def test_of_a_text_that_is_read_again_only_the_new_line_is_read():
    ground, kept, read = ground_of_program(forward(), ["dY"]), keeping(), []

    def keep(key, make):
        return kept(key, lambda: read.append(key[0]) or make())

    text = "dX = torch.zeros_like(X)\ndX[:] = dY @ W.T\ndW = X.T @ dY\n"
    infer_line_shapes(text, ground, keep)
    read.clear()
    again = infer_line_shapes(f"{text}db = dY.sum(0)\n", ground, keep)

    assert read == ["db = dY.sum(0)"] * len(ground.scopes)
    assert [one.text for one in again.lines] == ["(N, D) like X", "(N, D) like X", "(D, H) like W", "(H,) like b"]


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("k = W\nq = dY @ k.T", "k = W.T\nq = dY @ k.T"),
        (
            "def f():\n    return a\na = X\nq = f()\na = W\nq = f()",
            "def f():\n    return a\na = W\nq = f()\na = X\nq = f()",
        ),
        ("a = [X]\nq = a[0]", "a = [X]\na.append(W)\nq = a[-1]\na.reverse()\nq = a[0]"),
        ("fs = [lambda: a]\na = X\nq = fs[0]()", "fs = [lambda: a]\na = W\nq = fs[0]()"),
        ("q = (r := X) + 1\np = r", "q = (r := X) + 1\np = r"),
        ("é = X; q = é", "éé = W; q = éé"),
        ("ﬁ = X\nq = ﬁ", "ﬁ = W\nq = fi"),
        ("q = X\r\nq = W", "\r\nq = X\rq = q.T"),
        ("a = X; q = a.T", "a = W; q = a.T"),
        ("q = X @ W", "for a in range(200):\n" + "    del q\n    q = X @ W\n" * 5),
        ("q = X\nq[0] = 1", "q = W\nq[0] = 1"),
    ],
)
def test_what_was_read_of_another_text_changes_nothing(before, code):
    ground, kept = ground_of_program(forward(), ["dY"]), keeping()
    infer_line_shapes(before, ground, kept)

    assert infer_line_shapes(code, ground, kept) == infer_line_shapes(code, ground)


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(
    "code",
    [
        "for i in range(10 ** 9):\n    a = X",
        "a = 9 ** 9 ** 9 ** 9",
        "a = [X] * 10 ** 9",
        "def f(a):\n    return f(f(a))\nc = f(X)",
        "while True:\n    pass",
        "\n".join(f"a{at} = [x for x in range(200) for y in range(200)]" for at in range(300)),
        "for a in range(200):\n for b in range(200):\n  for c in range(200):\n   d = X @ W",
        "x = (1,)\n" + "x = x + x\n" * 60,
        "s = 'a'\n" + "s = s + s\n" * 60,
        "a = torch.zeros(" + "2, " * 3000 + "2)",
        "a = " + "X.T" + ".T" * 6000,
        "a = torch.arange(0, 10 ** 15)[::3]",
        "a = torch.tensor([[1] * 200] * 200)",
        "a = torch.tril_indices(10 ** 12, 10 ** 12)",
        "x = [1]\n" + "x = [x, x]\n" * 60,
        "x = {1: 2}\n" + "x[1] = [x, x]\n" * 60,
        "f = lambda a: f(a) + f(a)\nc = f(X)",
        "def f():\n    if X.sum() > 0:\n        f()\n    else:\n        f()\nf()",
        "if X.sum() > 0:\n    a = X.T\nelse:\n    a = X\n" * 1500,
        "a = torch.linalg.pinv(torch.zeros(1000, 1000))\n" * 40,
        "a = X.expand(-3, 32, 100)",
    ],
)
def test_a_text_costs_no_more_than_its_budget(code):
    assert isinstance(told(code), InlayShapes)


@given(st.text(alphabet="XWbdYtN01()[]{},.:=@+-* \n'sumviefor", max_size=120) | st.text(max_size=80))
def test_any_text_is_answered(code):
    assert isinstance(told(code), InlayShapes)


def test_only_what_the_gate_lets_through_is_offered_behind_a_dot():
    table = METHODS.read_text().partition("{")[2].partition("};")[0]
    words = [line.partition(":")[0].strip() for line in table.strip().splitlines()]

    assert len(words) > 30
    assert set(words) <= ATTRIBUTES
