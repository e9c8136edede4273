"""The rules in numpy agree with torch, and whatever is not known is refused rather than guessed."""

import ast
import math
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from app.grading.reading.budget import TOTAL, CostError
from app.grading.reading.node import UntracedError, reduce_to
from app.grading.reading.rules import backward
from app.grading.reading.tracer import Tracer, trace_expression

X = np.abs(np.random.default_rng(0).standard_normal((4, 6))) + 0.3
Z = np.abs(np.random.default_rng(1).standard_normal((4, 6))) + 0.3
FORWARD = {
    "x": X,
    "z": Z,
    "row": Z[0],
    "col": Z[:, :1],
    "w": np.random.default_rng(2).standard_normal((6, 3)),
    "v": np.random.default_rng(3).standard_normal(6),
    "t": np.array([1, 5, 1, 0]),
    "i": np.array([[3, 1], [3, 0]]),
}
EXPRESSIONS = """
x + z | x - row | x * col | x / col | col / x | x ** 3 | (x + 1e-5) ** -0.5 | -x | x @ w | x @ v | x.T @ z
torch.tanh(x) | x.tanh() | torch.sigmoid(x) | x.exp() | torch.log(x) | x.sqrt() | x.rsqrt() | torch.relu(x - 1)
F.softplus(x) | F.silu(x) | torch.log1p(x) | x.abs() | torch.sin(x) | x.reciprocal() | x.square() | x.pow(2)
x.pow(3) | x.sum() | x.sum(1) | x.sum(0, keepdim=True) | torch.mean(x, 1) | x.mean((0, 1)) | x.var(0)
x.var(1, unbiased=False) | x.std(0) | x.max(1).values | x.max(1)[0] | x.max() | torch.amin(x, 0)
x.logsumexp(1) | torch.softmax(x, 1) | F.log_softmax(x, dim=-1) | x.clamp(max=1.0) | x.clamp(0.5, 1.0)
x.reshape(2, 12) | x.view(-1) | x.T | x.permute(1, 0) | x.transpose(0, 1) | x.unsqueeze(1) | x.flatten()
x[1:3, ::2] | x[i] | x[torch.arange(4), t] | x[range(4), t] | torch.cat([x, z], 1) | torch.cat((x, col), dim=1)
x.expand(4, 6) | x.masked_fill(z > 0.8, 0.0) | x.clone() * 2 | F.cross_entropy(x, t)
F.cross_entropy(x, t, reduction='sum') | F.mse_loss(x, z) | torch.matmul(x, w) | x.index_select(0, t)
F.binary_cross_entropy_with_logits(x, z) | (x * x).sum(1).sqrt() | 1 / n * x.sum(0) | x / math.sqrt(6)
F.embedding(i, x) | torch.einsum('ij,jk->ik', x, w) | x.cumsum(1) | torch.stack([x, z]) | x.flip(0)
torch.roll(x, 1, 0) | x[:, :4].diagonal() | torch.where(z > 0.8, x, z) | torch.maximum(x, z)
torch.minimum(z, x) | x.chunk(2, 1)[1] | x.split(3, 1)[0] | x.unbind(1)[2]
F.conv1d(x[:, None], z[:3, None, :2].contiguous()) | x.gather(1, t[:, None]) | F.pad(x, (1, 2))
F.conv1d(z[:, None], x[:3, None, :2], padding=1, stride=2) | x.tril() | F.gelu(x)
F.gelu(x, approximate='tanh') | torch.cosh(x) | torch.sinh(x) | F.logsigmoid(x) | torch.expm1(x)
torch.special.erf(x) | x.repeat(2, 1) | x.cos() | F.layer_norm(x, (6,)) | F.layer_norm(x, (6,), v)
F.layer_norm(x, [6], v, row, 1e-3) | torch.softmax(x.masked_fill(z > 0.8, float('-inf')), 1)
"""
LIST = [part.strip() for line in EXPRESSIONS.strip().splitlines() for part in line.split("|")]


@pytest.mark.parametrize("text", LIST)
def test_value_and_gradient_agree_with_torch(text):
    limits = {**FORWARD, "t": FORWARD["t"] % 4} if "index_select" in text else FORWARD
    x = torch.from_numpy(limits["x"]).requires_grad_()
    scope = {name: torch.from_numpy(one) for name, one in limits.items()} | {"x": x}
    value = eval(text, {"torch": torch, "F": F, "math": math, "n": 4}, scope)
    upstream = torch.from_numpy(np.random.default_rng(9).standard_normal(tuple(value.shape)))
    (expected,) = torch.autograd.grad(value, x, upstream)

    root = trace_expression(ast.parse(text, mode="eval").body, limits, {"n": 4})

    if "entropy" not in text and "mse" not in text:
        assert np.allclose(root.value, value.detach().numpy())
    assert np.allclose(pulled_back(root, upstream.numpy()), expected.numpy())


def pulled_back(node, g):
    """The gradient of `x`, summed over every place where it stands."""
    if node.op == "tensor":
        return g if node.text == "x" else 0.0
    total = 0.0
    for position, operand in enumerate(node.operands):
        if node.op in {"cross_entropy", "mse_loss", "binary_cross_entropy_with_logits", "pow"} and position:
            continue
        if operand.op != "number":
            total = total + pulled_back(operand, reduce_to(backward(node, position, g), operand.value.shape))
    return total


def test_what_was_read_is_followed_back_when_nothing_is_left_to_read_with():
    tracer = Tracer(FORWARD, {})
    node = tracer.node(ast.parse("x[i]", mode="eval").body)
    with pytest.raises(CostError):
        tracer.budget.pay(TOTAL)

    assert np.allclose(backward(node, 0, np.ones(node.value.shape)).sum(), node.value.size)


@pytest.mark.parametrize(
    "text",
    [
        "torch.polygamma(1, x)",
        "torch.linalg.eigh(x @ x.T)",
        "f(x)",
        "[y for y in x]",
        "x if x > 0 else z",
        "[x] * 1000000",
        "lambda: x",
        "unknown",
        "x << 1",
    ],
)
def test_what_is_not_known_is_refused(text):
    with pytest.raises(UntracedError):
        trace_expression(ast.parse(text, mode="eval").body, FORWARD, {"n": 4})


def test_sizes_are_bounded():
    with pytest.raises(UntracedError):
        trace_expression(ast.parse("x.reshape(24, 1).expand(24, 10 ** 9)", mode="eval").body, FORWARD, {})


NAMES = st.sampled_from(["x", "z", "w", "v", "row", "col", "t", "i", "n", "torch", "F", "2", "-1", "0.5", "None"])
SHAPES = st.sampled_from(
    ["{} + {}", "{} @ {}", "{}[{}]", "{}.sum({})", "{}.reshape({})", "torch.max({}, {})", "{}.T", "-{}"]
)


@given(
    st.recursive(NAMES, lambda inner: st.builds(lambda shape, a, b: f"({shape.format(a, b)})", SHAPES, inner, inner))
)
def test_any_expression_is_read_or_refused(text):
    try:
        expr = ast.parse(text, mode="eval").body
        trace_expression(expr, FORWARD, {"n": 4})
    except (UntracedError, SyntaxError):
        pass


@pytest.mark.parametrize("text", ["x.var(0)", "x.std(0)", "x[:0].var(0)", "x[:0].var(0, correction=0)"])
def test_a_variance_of_too_few_entries_is_read_without_a_warning(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        node = trace_expression(ast.parse(text, mode="eval").body, {"x": np.ones((1, 3))}, {})

    assert node.value.shape == (3,)
    assert np.isnan(node.value).all()
