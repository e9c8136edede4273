"""What a difference of two expressions is called, and what its sentence names."""

import ast

import pytest

from app.grading.judge.slips.named_differences import named_difference
from app.syntax import syntax_key

NAMED = [
    ("g.sum(1)", "g.sum(1, keepdim=True)", "axis-lost", {"place": "g.sum(1)"}),
    ("g.sum(1, keepdim=True)", "g.sum(1)", "axis-left", {"place": "g.sum(1, keepdim=True)"}),
    ("g.var(1, unbiased=True)", "g.var(1, unbiased=True, keepdim=True)", "axis-lost", {}),
    ("scores", "softmax(scores, 1)", "scores", {"place": "scores"}),
    ("scores", "F.softmax(scores, 1)", "scores", {"place": "scores"}),
    ("x", "tanh(x)", "raw", {"place": "x"}),
    ("x", "torch.tanh(x)", "raw", {"place": "x"}),
    ("x", "x.tanh()", "raw", {"place": "x"}),
    ("x", "x[1:]", "uncut", {"place": "x"}),
    ("x[i]", "x", "cut", {"place": "x[i]", "name": "x"}),
    ("x[t]", "x[:, t]", "other-axis", {"place": "x[t]", "index": "t"}),
    ("'.'", "0", "text-for-number", {"place": "'.'"}),
    ("f(y, x)", "f(x, y)", "exchanged-arguments", {"place": "f(y, x)", "name": "f", "first": "x"}),
    ("b - a", "a - b", "exchanged-sides", {"place": "b - a", "sign": "-"}),
]
UNNAMED = [
    ("g.sum(0)", "g.sum(1, keepdim=True)"),
    ("g.sum()", "g.sum(1, keepdim=True)"),
    ("g.sum(1, keepdim=False)", "g.sum(1, keepdim=True)"),
    ("h.sum(1)", "g.sum(1, keepdim=True)"),
    ("g.mean(1)", "g.sum(1, keepdim=True)"),
    ("g.var(1, unbiased=False)", "g.var(1, unbiased=True, keepdim=True)"),
    ("g.var(1)", "g.var(1, unbiased=True, keepdim=True)"),
    ("y", "torch.tanh(x)"),
    ("torch", "torch.tanh(x)"),
    ("x[t, 0]", "x[:, t]"),
    ("x[t]", "x[t, :]"),
    ("x[s]", "x[:, t]"),
    ("y[t]", "x[:, t]"),
    ("f(x, x)", "f(x, x)"),
    ("f(y, x)", "g(x, y)"),
    ("b + a", "a + b"),
    ("b / a", "a - b"),
    ("a - a", "a - b"),
]


def difference(own: str, right: str) -> tuple[str, dict[str, str]] | None:
    one, other = (ast.parse(text, mode="eval").body for text in (own, right))
    found = named_difference(one, other, lambda a, b: syntax_key(a) == syntax_key(b))
    return found and (found[0], dict(found[1]))


@pytest.mark.parametrize(
    ("own", "right", "kind", "fields"), NAMED, ids=[f"{own} for {right}" for own, right, *_ in NAMED]
)
def test_a_difference_has_its_name_and_what_it_names(own, right, kind, fields):
    found = difference(own, right)

    assert found is not None
    assert found[0] == kind
    assert fields.items() <= found[1].items()


@pytest.mark.parametrize(("own", "right"), UNNAMED, ids=[f"{own} for {right}" for own, right in UNNAMED])
def test_what_differs_in_more_has_no_name(own, right):
    assert difference(own, right) is None
