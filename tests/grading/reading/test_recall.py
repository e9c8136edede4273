"""What is read again of a text is what it would be read as anew, whatever changed in the scope meanwhile."""

import ast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.grading.reading import recall as recalls
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.recall import Recall

LOOP = """out = torch.zeros_like(x)
carry = x[0]
for t in range(3):
    step = (x[t] + carry) * torch.exp(-w) if t > 0 else x[t] * w
    out[t] = step - w.sum()
    carry = step @ m.T
"""
NAMES = ("x", "w", "m", "carry", "step", "out")


def arrays(seed):
    numbers = np.random.default_rng(seed)
    return {"x": numbers.standard_normal((3, 2)), "w": numbers.standard_normal(2), "m": numbers.standard_normal((2, 2))}


def after(lines, scope, recall=None):
    now = Interpreter(scope, {}, None, recall)
    now.run(lines)
    return now.arrays


def learnt(lines, scope):
    recall = Recall(lines)
    after(lines, scope, recall)
    recall.learning = False
    return recall


@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 3))
def test_an_edited_text_reads_as_without_what_was_read_before(old, new, seed):
    lines, scope = ast.parse(LOOP).body, arrays(seed)
    recall = learnt(lines, scope)
    loop = lines[-1]
    for at, statement in enumerate(loop.body):
        edited = ast.parse(ast.unparse(statement).replace(old, new)).body
        one = ast.For(loop.target, loop.iter, [*loop.body[:at], *edited, *loop.body[at + 1 :]], [])
        results = []
        for known in (recall, None):
            try:
                results.append(after([*lines[:-1], one], scope, known))
            except Exception as error:  # what cannot be read without it cannot be read with it
                results.append(type(error))
        with_it, without = results
        assert with_it is without or all(np.array_equal(with_it[name], without[name]) for name in without)


def test_other_numbers_under_the_same_names_are_read_anew():
    lines = ast.parse(LOOP).body
    recall = learnt(lines, arrays(0))

    assert np.array_equal(after(lines, arrays(1), recall)["out"], after(lines, arrays(1))["out"])


def test_what_was_read_before_costs_nothing(monkeypatch):
    lines, scope = ast.parse("y = torch.exp(x) + x.sum()").body, arrays(0)
    recall = learnt(lines, scope)
    monkeypatch.setattr(recalls.OpNode, "__init__", None)

    assert np.array_equal(after(lines, scope, recall)["y"], np.exp(scope["x"]) + scope["x"].sum())


def test_no_more_than_a_few_entries_are_held(monkeypatch):
    monkeypatch.setattr(recalls, "HELD_MAX", 5)
    lines, scope = ast.parse("y = torch.exp(x) + w * w").body, arrays(0)
    recall = learnt(lines, scope)

    assert sum(node.value.size for node, _ in recall._found.values()) <= 5
    assert np.array_equal(after(lines, scope, recall)["y"], after(lines, scope)["y"])
