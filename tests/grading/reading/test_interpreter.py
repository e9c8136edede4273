"""Statements of a learner are read in numpy to the numbers that torch gives, or not at all."""

import ast

import numpy as np
import pytest
import torch

from app.grading.reading.interpreter import Interpreter
from app.grading.reading.line_reader import LineReader
from app.grading.reading.node import UntracedError

X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
T = 4

TEXTS = {
    "a choice": "y = x if T > 1 else -x",
    "a choice of a step": "y = x[:, -1] if 1 <= T - 1 < 3 else 2 * x[:, 0]",
    "a condition": "if T > 2 and not T == 5:\n    y = x\nelif T == 5:\n    y = -x\nelse:\n    y = 2 * x",
    "nothing yet": "y = None\nfor t in range(3):\n    y = x if y is None else y + t * x",
    "a list that grows": "z = []\nfor t in range(T):\n    z.append(t * x[:, t % 3])\ny = torch.stack(z, 1)",
    "a list from its end": "z = [x]\nz.insert(0, 2 * x)\nz.reverse()\nz.extend([x])\ny = torch.cat(z[::-1])",
    "a list of blanks": "z = [None] * T\nfor t in range(T):\n    z[t] = x * t\ny = sum(z)",
    "lists in a row": "z = [x] + [2 * x]\nz += [3 * x]\ny = z[-1] + z[1]",
    "a list with a condition": "y = sum([t * x for t in range(T) if t != 1])",
    "a dictionary": "z = {'a': x}\nz['b'] = 2 * x\ny = z['a'] * z['b']",
    "a loop with a condition": "t = 0\ny = torch.zeros_like(x)\nwhile t < T:\n    y += t * x\n    t += 1",
    "turns left out": """
y = x
for t in range(T):
    if t == 1:
        continue
    if t == 3:
        break
    y = y + t * x
""",
    "a long loop": "y = x\nfor t in range(60):\n" + "    z = y * 0.5\n    y = z - x\n" * 5,
    "no gradients": "with torch.no_grad():\n    y = x * 2",
    "solved": "z = x @ x.T + torch.eye(2)\ny = torch.linalg.solve(z, x[:, 0]) @ torch.inverse(z) * torch.logdet(z)",
    "two conditions": "y = ((x > 1) & (x < 4)).double() + ((x < 2) | (x > 3)) * 2.0",
    "a name on the way": "y = (z := 2 * x) + z",
    "parts": "a, b = x.split([1, 2], 1)\ny = torch.cat([b, a], 1)",
    "the largest": "m, i = x.max(1)\ny = m + i",
    "an assertion": "assert x.shape == (2, 3)\ny = x",
    "words": "'doc'\ny: torch.Tensor = x\npass\ndel x",
}


def read(text: str) -> Interpreter:
    scope = Interpreter({"x": X.numpy()}, {"T": T})
    scope.run(ast.parse(text).body)
    return scope


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_statements_give_the_numbers_that_torch_gives(text):
    scope = {"torch": torch, "x": X.clone(), "T": T}
    exec(text, scope)

    assert np.allclose(read(text).arrays["y"], scope["y"].numpy(), rtol=0, atol=1e-12)


FUNCTIONS = {
    "a function": "def f(a, n=2):\n    b = a * n\n    return b, b.T\ny, _ = f(x)",
    "a function of a name": "double = lambda a, n: a * n\ny = double(x, n=2) + (lambda a: -a)(x)",
    "a function in a function": "def f(a):\n    def g(b):\n        return b + a\n    return g(2 * a)\ny = f(x)",
    "several arguments": "def f(a, b):\n    return a - b\nboth = (x, 2 * x)\ny = f(*both)",
}


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_the_text_are_followed_where_shapes_are_read(text):
    scope = {"torch": torch, "x": X.clone()}
    exec(text, scope)
    reader = LineReader({"x": X.numpy()})

    reader.read(ast.parse(text).body)

    assert np.allclose(reader.arrays["y"], scope["y"].numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    ["while True:\n    y = x", "if x > 0:\n    y = x", "z = [x] * 10**9", "z.append(x)", "def f():\n    pass", "break"],
)
def test_what_has_no_end_or_is_not_on_the_list_is_not_read(text):
    with pytest.raises(UntracedError):
        read(text)


def test_a_list_of_one_scope_is_no_list_of_its_copy():
    before = read("z = [x]")
    after = before.copy()

    after.run(ast.parse("z.append(x)\nz[0] = 2 * x").body)

    assert len(before.others["z"]) == 1
    assert np.array_equal(before.others["z"][0], X.numpy())
