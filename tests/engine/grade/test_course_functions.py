"""The functions that the course asks for: other right ways pass, and each wrong one hears the sentence of its case."""

import math
import random
import re
from dataclasses import replace

import pytest
import torch

from app.content.blocks import FunctionBox
from tests.courses import LESSONS, course_in

LETTERS = 'return torch.einsum(f"{out},{other},{mine}->{mine}", dY, O, torch.ones_like(M))'
LAST = """kept = "".join(one for one in mine if one in out + other)
        g = torch.einsum(f"{out},{other}->{kept}", dY, O)
        return g.unsqueeze(-1).expand_as(M) if mine == a and kept != mine else g"""
NAMES = (
    "einsum-backward",
    "num-grad",
    "topological-sort",
    "value-gates",
    "value-backward",
    "value-more",
    "unbroadcast",
    "check-grads",
    "rms-function",
    "scaled-loss",
)
FUNCTIONS = [one for lesson in course_in(LESSONS).lessons for one in lesson.exercises if isinstance(one, FunctionBox)]
BOXES = {one.name: one for one in FUNCTIONS if one.name in NAMES}


def changed(name: str, *edits: tuple[str, str]) -> str:
    """The solution of the box *name*, edited."""
    code = BOXES[name].solution.source
    for before, after in edits:
        assert before in code, before
        code = code.replace(before, after, 1)
    return code


UNIT_VECTORS = """
def num_grad(f, x, h):
    x = x.double()
    eye = torch.eye(x.numel(), dtype=torch.float64) * h
    slopes = [float(f(x + way.view(x.shape)) - f(x - way.view(x.shape))) / (2 * h) for way in eye]
    return torch.tensor(slopes, dtype=torch.float64).view(x.shape)
"""
IN_PLACE = """
def num_grad(f, x, h):
    x = x.double()
    g = torch.zeros_like(x)
    flat = x.view(-1)
    for i in range(flat.numel()):
        flat[i] += h
        up = f(x)
        flat[i] -= 2 * h
        g.view(-1)[i] = (up - f(x)) / (2 * h)
        flat[i] += h
    return g
"""
STACK = """
def topological_sort(graph, root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(one, False) for one in graph[node]]
    return order
"""
READY_FIRST = """
def topological_sort(graph, root):
    waiting, found = {}, [root]
    while found:
        node = found.pop()
        if node not in waiting:
            waiting[node] = graph[node]
            found += graph[node]
    order = []
    while waiting:
        ready = [node for node in waiting if all(one in order for one in waiting[node])][0]
        order.append(ready)
        del waiting[ready]
    return order
"""
ENGINE = """
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0
        self.parents = parents

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    __radd__ = __add__

    def __rmul__(self, other):
        return self.__mul__(other)

    def backward(self):
        order = []

        def visit(node):
            if node not in order:
                for parent, slope in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in order[::-1]:
            for parent, slope in node.parents:
                parent.grad += slope * node.grad

    def unary(self, data, slope):
        return Value(data, ((self, slope),))

    def __pow__(self, k):
        return self.unary(self.data ** k, k * self.data ** (k - 1))

    def exp(self):
        return self.unary(math.exp(self.data), math.exp(self.data))

    def log(self):
        return self.unary(math.log(self.data), 1 / self.data)

    def tanh(self):
        return self.unary(math.tanh(self.data), 1 - math.tanh(self.data) ** 2)

    def relu(self):
        return self.unary(max(0.0, self.data), 1.0 if self.data >= 0 else 0.0)

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * other ** -1

    def __rtruediv__(self, other):
        return other * self ** -1
"""
RECURSIVE = """
def unbroadcast(g, shape):
    if g.dim() > len(shape):
        return unbroadcast(g.sum(0), shape)
    for axis, (now, before) in enumerate(zip(g.shape, shape)):
        if now != before:
            return unbroadcast(g.sum(axis, keepdim=True), shape)
    return g
"""
ALL_WAYS = """
def check_grads(forward, backward, inputs):
    inputs = [x.double() for x in inputs]
    for seed in range(2):
        torch.manual_seed(seed)
        up = torch.randn_like(forward(*inputs))
        for again in range(2):
            grads = backward(up.clone(), *[x.clone() for x in inputs])
        for k, x in enumerate(inputs):
            if tuple(grads[k].shape) != tuple(x.shape):
                return False
            slopes = []
            for i in range(x.numel()):
                way = torch.zeros(x.numel(), dtype=torch.float64)
                way[i] = 1e-5
                way = way.view(x.shape)
                ahead = forward(*inputs[:k], x + way, *inputs[k + 1:])
                behind = forward(*inputs[:k], x - way, *inputs[k + 1:])
                slopes.append(float(((ahead - behind) * up).sum()) / 2e-5)
            slopes = torch.tensor(slopes, dtype=torch.float64).view(x.shape)
            if not torch.allclose(grads[k], slopes, rtol=1e-4, atol=1e-8):
                return False
    return True
"""
RIGHT = [
    ("num-grad", UNIT_VECTORS),
    ("num-grad", IN_PLACE),
    ("topological-sort", STACK),
    ("topological-sort", READY_FIRST),
    ("value-gates", ENGINE),
    ("value-backward", ENGINE),
    ("value-backward", changed("value-backward", ("            if node.made_from:\n    ", "        "))),
    ("value-more", ENGINE),
    ("unbroadcast", RECURSIVE),
    ("check-grads", ALL_WAYS),
]
CLEARED = "        for node in order:\n            if node.made_from:\n                node.grad = 0.0\n"
WRAPPED = "        other = other if isinstance(other, Value) else Value(other)\n"
WRONG = {
    "divided by h": ("num-grad", [("(2 * h)", "h")], "The two points at which you evaluate lie"),
    "not put back": ("num-grad", [("        flat[i] = old\n        out", "        out")], "After probing an entry"),
    "one entry": ("num-grad", [("range(flat.numel())", "range(1)")], "Only the first entry"),
    "float32": ("num-grad", [("x.double().clone()", "x.clone()")], "This `x` is float32"),
    "the caller's x": (
        "num-grad",
        [("x.double().clone()", "x.double()"), ("return g", "x += h\n    return g")],
        "The caller's",
    ),
    "flat": ("num-grad", [("return g", "return g.view(-1)")], "The answer is a tensor, and it has the shape"),
    "turned round": ("topological-sort", [("return order", "return order[::-1]")], "The list is the wrong way round"),
    "never visited": (
        "topological-sort",
        [("            seen.add(node)\n", "")],
        "Nodes that are reached by two paths",
    ),
    "other gate": (
        "value-gates",
        [("other.data * out.grad", "self.data * out.grad")],
        "In `c = a * b`, what comes back",
    ),
    "no upstream": (
        "value-gates",
        [("other.data * out.grad", "other.data"), ("self.data * out.grad", "self.data")],
        "What comes back is multiplied in",
    ),
    "divided by itself": (
        "value-gates",
        [
            ("self.grad += other.data", "self.grad += out.data / self.data"),
            ("other.grad += self.data", "other.grad += out.data / other.data"),
        ],
        "`a` is 0 here",
    ),
    "product overwritten": ("value-gates", [("other.grad += self", "other.grad = self")], "In `a * a` both places"),
    "left overwritten": ("value-gates", [("self.grad += other", "self.grad = other")], "`a` is read by two products"),
    "left of a sum": ("value-backward", [("self.grad += out", "self.grad = out")], "`x` is read by two sums"),
    "left of a product": ("value-backward", [("self.grad += oth", "self.grad = oth")], "`x` is read by two products"),
    "sum overwritten": ("value-backward", [("other.grad += out.grad", "other.grad = out.grad")], "In `x + x` both"),
    "product lost": ("value-backward", [("other.grad += self", "other.grad = self")], "In `x * x` both places"),
    "from the front": ("value-backward", [("reversed(order)", "order")], "Two products in a row"),
    "no left sum": ("value-backward", [("__radd__", "radd")], "A plain number may be on the left"),
    "visited again": ("value-backward", [("                seen.add(node)\n", "")], "`c` is read twice"),
    "not wrapped": ("value-backward", [(WRAPPED, "")], "A plain number may be on the left"),
    "not cleared": ("value-backward", [(CLEARED, "")], "Called a second time"),
    "no beginning": ("value-backward", [("        self.grad = 1.0\n", "")], "The first number"),
    "exponent": ("value-more", [("(exponent - 1)", "exponent")], "A power"),
    "exp of the input": ("value-more", [("out.data * out.grad", "self.data * out.grad")], "The exponential"),
    "log of the output": (
        "value-more",
        [("out.grad / self.data", "out.grad / out.data")],
        "The slope of the logarithm",
    ),
    "tanh of the input": ("value-more", [("1 - out.data ** 2", "1 - self.data ** 2")], "The slope of tanh"),
    "relu always open": ("value-more", [("(self.data > 0) * out.grad", "out.grad")], "relu lets the gradient through"),
    "power overwritten": ("value-more", [("self.grad += exponent", "self.grad = exponent")], "`self.grad = …` writes"),
    "exp overwritten": ("value-more", [("self.grad += out.data *", "self.grad = out.data *")], "The exponential"),
    "log overwritten": ("value-more", [("self.grad += out.grad /", "self.grad = out.grad /")], "The slope of the log"),
    "tanh overwritten": ("value-more", [("self.grad += (1 -", "self.grad = (1 -")], "The slope of tanh"),
    "relu overwritten": ("value-more", [("self.grad += (self.data", "self.grad = (self.data")], "relu lets the"),
    "quotient upside down": ("value-more", [("return self * other ** -1", "return other * self ** -1")], "A quotient"),
    "two from two": (
        "value-more",
        [("return other + (-self)", "return self + (-other)")],
        "A plain number may be above the line",
    ),
    "averaged": ("unbroadcast", [("g = g.sum(0)", "g = g.mean(0)")], "`(3,)` was copied"),
    "from the right": ("unbroadcast", [("g = g.sum(0)", "g = g.sum(-1)")], "Axes are added on the"),
    # Right for "ij,i->i" alone.
    "odd letter at the end": ("einsum-backward", [(LETTERS, LAST)], "Here the odd letter is in the second"),
    "axis lost": ("unbroadcast", [("keepdim=True", "keepdim=False")], "Without `keepdim=True`"),
}


@pytest.mark.parametrize(("name", "code"), RIGHT, ids=[f"{name} {n}" for n, (name, _) in enumerate(RIGHT)])
def test_another_right_way_passes(jailed, name, code) -> None:
    verdict = jailed.check(BOXES[name], code)

    assert verdict.passed, [one.message for one in verdict.names if one.verdict == "wrong"] or verdict


@pytest.mark.in_turn
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_way_is_refused_by_its_own_case_with_its_own_sentence(jailed, name) -> None:
    box, edits, begins = WRONG[name]

    verdict = jailed.check(BOXES[box], changed(box, *edits))

    wrong = [one for one in verdict.names if one.verdict == "wrong"]
    assert wrong, verdict
    assert begins in f"{wrong[0].message} {wrong[0].facts[0][0]}"


def test_a_text_that_has_what_a_declared_mistake_lacks_does_not_hear_of_it(jailed) -> None:
    cell = next(one for one in FUNCTIONS if one.name == "remember" and "dcell" in one.solution.source)
    box = replace(cell, cases=cell.cases[:1])
    (declared,) = [one for one in cell.mistakes if "travels along the road" in one.message]

    told = jailed.check(box, declared.code.source).names[0].message
    other = jailed.check(box, cell.solution.source.replace("dc = dcell * f", "dc = dc * f")).names[0].message

    assert told == declared.message
    assert "travels along the road" not in other


def test_each_bug_of_the_gradient_checker_is_told_by_its_own_case(jailed) -> None:
    box = BOXES["check-grads"]
    for mistake in box.mistakes:
        code = re.sub(r"\bslope\b", "measured", mistake.code.source)

        verdict = jailed.check(box, code)

        assert next(one.message for one in verdict.names if one.verdict == "wrong") == mistake.message


def test_of_a_test_that_stops_nothing_is_said_about_what_it_answers(jailed) -> None:
    stops = "def check_grads(forward, backward, inputs):\n    return backward(inputs)[0] / 0\n"

    verdict = jailed.check(BOXES["check-grads"], stops)

    wrong = next(one for one in verdict.names if one.verdict == "wrong")
    assert wrong.message.startswith("It stopped with an error.")
    assert wrong.facts[0][0] == "Case 1: A linear layer, and its backward pass is right."


def test_an_argument_of_another_method_is_told_with_where_it_exists(jailed) -> None:
    again = "x, w = ctx.saved_tensors\n        r = ((x ** 2).mean(-1, keepdim=True) + eps) ** -0.5\n        u = x * r"
    code = changed("rms-function", ("backward(u, r, w)", "backward(x, w)"), ("u, r, w = ctx.saved_tensors", again))

    message = next(one.message for one in jailed.check(BOXES["rms-function"], code).names if one.verdict == "wrong")

    assert "`eps` is an argument of `forward`, and exists in there alone. `ctx.eps = eps` keeps it there" in message
    assert "in a box" not in message


def test_an_answer_in_half_precision_is_told_as_that(jailed) -> None:
    code = changed("scaled-loss", ("dw.float() / scale", "dw / scale"))

    wrong = next(one for one in jailed.check(BOXES["scaled-loss"], code).names if one.verdict == "wrong")

    assert wrong.message.startswith("What came back is still in half precision, `float16`;")
    assert dict(wrong.facts)["It gave"] == "a tensor of shape (64,) in half precision, float16"


UNARY = ("exp", "log", "tanh", "relu")


def grown(draw: random.Random, leaves: list[object]) -> object:
    """An expression over *leaves*, most of which it reads several times; the same one for the same draw."""
    nodes = list(leaves)
    for _ in range(draw.randint(3, 12)):
        one, two, kind = draw.choice(nodes), draw.choice(nodes), draw.choice("+-*/^1")
        match kind:
            case "+":
                made = one + two
            case "-":
                made = draw.randint(1, 3) - one
            case "*":
                made = one * two * 0.5
            case "/":
                made = one / (two * two + 1)
            case "^":
                made = one ** draw.randint(2, 3) * 0.1
            case _:
                name = draw.choice(UNARY)
                made = (one * one + 1).log() if name == "log" else getattr(one, name)()
        nodes.append(made.tanh() * 2)
    return sum(nodes[1:], nodes[0])


def test_the_engine_of_the_course_agrees_with_torch_on_any_expression() -> None:
    scope: dict[str, object] = {"math": math}
    exec(BOXES["value-more"].solution.source, scope)
    for seed in range(200):
        numbers = [random.Random(seed).uniform(-2, 2) for _ in range(3)]
        own = [scope["Value"](one) for one in numbers]
        theirs = [torch.tensor(one, dtype=torch.float64, requires_grad=True) for one in numbers]
        for leaves in (own, theirs):
            grown(random.Random(seed), leaves).backward()

        found = [leaf.grad for leaf in own]
        wanted = [0.0 if leaf.grad is None else leaf.grad.item() for leaf in theirs]
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), seed
