"""Loop unrolling and scalar replacement: what a text over lists and loops says, line by line."""

import ast

import pytest

from app.grading.judge.unrolling.unroller import unroll

WANTED = ("dh1", "dh2", "dW")
ROWS = [
    # A loop over a list of states, and the names that its parts get at the end.
    (
        """\
dhs = [None, None, dy]
for t in reversed(range(2)):
    dhs[t] = dhs[t + 1] @ W.T
dh1, dh2 = dhs[:2]
""",
        """\
dh2 = dy @ W.T
dh1 = dh2 @ W.T
""",
    ),
    # An accumulation in a dictionary, by a name that is put together.
    (
        """\
g = {}
g['d' + 'W'] = torch.zeros_like(W)
name = 'W'
for x, d in zip([x1, x2], (dy, dz)):
    g[f'd{name}'] += x.T @ d
dW = g['dW']
""",
        """\
dW = torch.zeros_like(W)
dW += x1.T @ dy
dW += x2.T @ dz
""",
    ),
    # A list that grows, turned round, and a condition that each turn knows.
    (
        """\
ds = []
for k, a in enumerate([a1, a2]):
    if k == 0:
        ds.append(dy * a)
        continue
    ds.insert(0, ds[-1] * a)
dh2, dh1 = reversed(ds)
""",
        """\
dh2 = dy * a1
dh1 = dh2 * a2
""",
    ),
    # One name for one step after the other: each is a step of its own.
    (
        """\
g = dy * a
dW = x.T @ g
g = g @ V
dh1 = g
""",
        """\
g_v1 = dy * a
dW = x.T @ g_v1
g_v2 = g_v1 @ V
dh1 = g_v2
""",
    ),
    # A loop over a size stays as it is, with what the names are called by then.
    (
        """\
ds = [dy * a]
g = ds[0]
for t in range(T):
    dW[t] = g[t] * s
dh1, dh2 = g @ W, ds[0]
""",
        """\
dh2 = dy * a
for t in range(T):
    dW[t] = dh2[t] * s
dh1 = dh2 @ W
""",
    ),
]


@pytest.mark.parametrize(("text", "unrolled"), ROWS)
def test_a_text_is_unrolled_to_the_lines_that_it_comes_to(text: str, unrolled: str) -> None:
    result = unroll(ast.parse(text).body, {}, WANTED)

    assert result is not None
    assert "".join(f"{ast.unparse(line.node)}\n" for line in result.lines) == unrolled


@pytest.mark.parametrize(
    "text",
    [
        "dh1 = dy",
        "for t in range(10 ** 9):\n    dh1 = dy",
        "ds = [0] * 10 ** 9\ndh1 = ds[0]",
        "ds = []\nfor a in range(300):\n    for b in range(300):\n        ds.append(dy)\ndh1 = ds[0]",
        "ds = [dy]\nwhile len(ds) < n:\n    ds.append(dy)\ndh1 = ds[0]",
        "ds = [dy]\nchange(ds)\ndh1 = ds[i]",
        "ds = [dy * a]\nfor t in range(T):\n    dW[t] = ds[0][t]\ndh1 = ds[0]",
        "f = lambda a: a * s\ns = 2\ndh1 = f(dy)",
    ],
)
def test_what_the_text_alone_does_not_tell_is_not_unrolled(text: str) -> None:
    assert unroll(ast.parse(text).body, {}, WANTED) is None


def test_a_size_that_is_the_same_in_every_run_counts_the_turns() -> None:
    text = "ds = [dy]\nfor t in range(T):\n    ds.append(ds[-1] * a[t])\ndh2, dh1 = ds[1], ds[2]"

    result = unroll(ast.parse(text).body, {"T": 2}, WANTED)

    assert result is not None
    assert [ast.unparse(line.node) for line in result.lines] == ["dh2 = dy * a[0]", "dh1 = dh2 * a[1]"]
    assert [(line.node.lineno, line.turn) for line in result.lines] == [(3, 1), (3, 2)]
