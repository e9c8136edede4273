"""Run every family of operations once before anything is forked, so that a jailed child never has to load anything.

Importing, generating code, reading files and starting threads are all forbidden in the jail: whatever torch does at the
first use of an operation must have happened here. Both precisions, forward and backward.
"""

import importlib
import random
import traceback
import warnings
from typing import Any

import torch
import torch.nn.functional as F

from app.syntax import without_style

LATE_IMPORTS = (
    "unicodedata", "linecache", "traceback", "tokenize", "textwrap", "encodings.idna", "encodings.ascii",
    "encodings.latin_1", "encodings.utf_16", "encodings.unicode_escape", "difflib", "fractions", "decimal",
    "statistics", "numbers", "heapq", "bisect", "string", "cmath", "ast", "pprint",
)  # fmt: skip


def warm_up() -> None:
    """Warm this process up."""
    torch.set_num_threads(1)
    torch._C._set_mkldnn_enabled(False)  # it generates machine code at run time
    warnings.simplefilter("ignore")
    for module in LATE_IMPORTS:
        importlib.import_module(module)
    without_style("1")  # Python 3.14 loads what writes code at its first use
    for dtype in (torch.float32, torch.float64):
        _arithmetic(dtype)
        _network(dtype)
        _shapes(dtype)
        _convolution(dtype)
    _numbers()
    _errors()
    random.seed()


def _backward(output: Any, *leaves: Any) -> None:
    upstream = torch.randn(output.shape, dtype=output.dtype)
    torch.autograd.grad(output, leaves, upstream, retain_graph=True, allow_unused=True)
    if leaves:
        output.backward(upstream)


def _leaf(*shape: int, dtype: torch.dtype) -> Any:
    return (torch.rand(shape, dtype=dtype) + 0.5).requires_grad_()


def _arithmetic(dtype: torch.dtype) -> None:
    x, y, b = _leaf(5, 4, dtype=dtype), _leaf(5, 4, dtype=dtype), _leaf(4, dtype=dtype)
    z = x + y - x * b / y + x**2 + x**-1.5 + x**y + 2**x - 1 / x + x.pow(2) + x % 3 + (x // 2).detach()
    z = z + x.exp() + x.log() + x.sqrt() + x.rsqrt() + x.sin() + x.cos() + x.abs() + x.neg() + x.square() + x.sign()
    z = z + x.tanh() + x.sigmoid() + x.relu() + x.reciprocal() + x.log1p() + x.expm1() + x.erf() + x.atan()
    z = z + x.clamp(max=1) + x.clamp_min(0.6) + torch.maximum(x, y) + torch.minimum(x, b) + torch.where(x > y, x, y)
    z = z + F.gelu(x) + F.gelu(x, approximate="tanh") + F.silu(x) + F.leaky_relu(x) + F.softplus(x) + F.elu(x)
    z = z + x.masked_fill(x > 1, 0.0) + x.cumsum(0) + x.cumprod(1) + torch.lerp(x, y, 0.3) + torch.addcmul(x, x, y)
    _backward(z, x, y, b)
    for reduced in (
        x.sum(),
        x.sum(0),
        x.sum((0, 1), keepdim=True),
        x.mean(1, keepdim=True),
        x.var(0),
        x.std(1),
        x.prod(),
    ):
        _backward(reduced, x)
    for picked in (x.max(), x.min(), x.amax(0), x.amin(1), x.max(1).values, x.min(0).values, x.median(), x.norm()):
        _backward(picked, x)
    _backward(torch.logsumexp(x, 1), x)
    _backward(torch.linalg.norm(x, dim=1), x)
    _backward(x.sort(1).values + x.topk(4, 1).values, x)
    with torch.no_grad():
        w = x.clone()
        w += y
        w -= y
        w *= 2
        w /= 3
        w **= 2
        w[1:3, ::2] = 0
        w[w > 1] = 1.0
        w[0] += 1
        w.zero_().fill_(3).add_(1).mul_(2).copy_(y)


def _network(dtype: torch.dtype) -> None:
    x, w, b = _leaf(6, 5, dtype=dtype), _leaf(5, 3, dtype=dtype), _leaf(3, dtype=dtype)
    labels = torch.tensor([0, 1, 2, 2, 1, 0])
    logits = x @ w + b
    _backward(logits, x, w, b)
    _backward(F.linear(x, w.T, b) + torch.addmm(b, x, w) + torch.matmul(x, w) + torch.mm(x, w), x, w)
    _backward(x @ w[:, 0] + torch.mv(x, w[:, 1]) + torch.outer(b, b).sum() + torch.dot(b, b), x, w, b)
    _backward(torch.bmm(x.reshape(2, 3, 5), w.expand(2, 5, 3)) + x.reshape(2, 3, 5) @ w, x, w)
    _backward(torch.einsum("nd,dh->nh", x, w) + torch.einsum("nd,dh->hn", x, w).T, x, w)
    logits = x @ w + b
    losses: tuple[Any, ...] = (
        F.cross_entropy(logits, labels),
        F.cross_entropy(logits, labels, reduction="none").sum(),
        F.cross_entropy(logits, torch.softmax(logits.detach(), 1)),
        F.nll_loss(F.log_softmax(logits, 1), labels),
        F.mse_loss(logits, logits.detach() * 0.9),
        F.binary_cross_entropy_with_logits(logits, torch.rand(6, 3, dtype=dtype)),
        F.binary_cross_entropy(torch.sigmoid(logits), torch.rand(6, 3, dtype=dtype)),
        F.kl_div(F.log_softmax(logits, 1), torch.softmax(logits.detach(), 1), reduction="batchmean"),
        F.huber_loss(logits, logits.detach() * 0.9),
        (torch.softmax(logits, 1) * torch.log_softmax(logits, 1)).sum(),
        -logits[torch.arange(6), labels].mean(),
    )
    for loss in losses:
        x.grad = None
        loss.backward(retain_graph=True)
    gain = _leaf(5, dtype=dtype)
    _backward(F.layer_norm(x, (5,), gain, gain), x, gain)
    _backward(F.batch_norm(x, None, None, gain, gain, training=True), x, gain)
    _backward(F.dropout(x, 0.5), x)
    table = _leaf(7, 5, dtype=dtype)
    rows = torch.tensor([[1, 2], [3, 1], [6, 1]])
    _backward(F.embedding(rows, table) + table[rows] + table.index_select(0, rows.view(-1)).view(3, 2, 5), table)
    _backward(F.one_hot(rows.view(-1), 7).to(dtype) @ table, table)
    q = _leaf(2, 4, 3, dtype=dtype)
    scores = (q @ q.transpose(-2, -1)) * 3**-0.5
    masked = scores.masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
    _backward(torch.softmax(masked, -1) @ q + F.scaled_dot_product_attention(q, q, q, is_causal=True), q)


def _shapes(dtype: torch.dtype) -> None:
    x = _leaf(2, 3, 4, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [
            x.permute(2, 0, 1),
            x.transpose(0, 1),
            x.mT,
            x.T,
            x.flatten(1),
            x.reshape(6, 4),
            x.view(-1),
            x.swapaxes(0, 1),
        ]
    parts += [x[..., None], x[:, 1:, ::2], x[0], x[:, [0, 2]], x.unsqueeze(0), x.squeeze(), x.expand(5, 2, 3, 4)]
    parts += [
        x.repeat(2, 1, 1),
        x.flip(0),
        x.roll(1, 0),
        x.unfold(2, 2, 1),
        x.diagonal(dim1=1, dim2=2),
        x.tril(),
        x.triu(1),
    ]
    parts += [
        torch.cat([x, x], 1),
        torch.stack([x, x]),
        *x.split(2, -1),
        *x.chunk(2, 2),
        *x.unbind(0),
        x.clone(),
        x.contiguous(),
    ]
    parts += [x.expand_as(torch.ones(2, 3, 4)), torch.broadcast_to(x, (2, 2, 3, 4)), F.pad(x, (1, 1)), x.movedim(0, 2)]
    parts += [
        x.gather(1, torch.zeros(2, 1, 4, dtype=torch.long)),
        torch.tensordot(x, x, 3),
        x.to(torch.float64),
        x.sum_to_size(1, 3, 1),
    ]
    for part in parts:
        _backward(part, x)
    rows = torch.tensor([0, 2, 0])
    zeros, source = torch.zeros(4, 3, dtype=dtype), _leaf(3, 3, dtype=dtype)
    _backward(zeros.index_add(0, rows, source), source)
    _backward(zeros.scatter(1, rows[:, None], source[:, :1]), source)
    _backward(zeros.scatter_add(0, rows[:, None].expand(3, 3), source), source)
    _backward(
        zeros.index_put((rows,), source, accumulate=True) + zeros.index_copy(0, torch.tensor([0, 1, 2]), source), source
    )
    with torch.no_grad():
        zeros.index_add_(0, rows, source)
        zeros.scatter_(1, rows[:, None], source).scatter_add_(0, rows[:, None].expand(3, 3), source)
        zeros.index_put_((rows,), source, accumulate=True)
        zeros[torch.arange(3), rows] -= 1
        zeros.masked_scatter_(zeros > 1, zeros.clone()).addmm_(zeros, source)


def _convolution(dtype: torch.dtype) -> None:
    x, w, b = _leaf(2, 3, 6, 5, dtype=dtype), _leaf(4, 3, 3, 2, dtype=dtype), _leaf(4, dtype=dtype)
    _backward(F.conv2d(x, w, b, padding=1), x, w, b)
    _backward(F.conv2d(x, w, stride=2), x, w)
    _backward(F.conv1d(x[:, :, 0], w[:, :, :, 0], b), x, w, b)
    _backward(F.conv_transpose2d(F.conv2d(x, w), w), x, w)
    columns = F.unfold(x, (3, 2), padding=1)
    _backward(columns, x)
    _backward(F.fold(columns, (6, 5), (3, 2), padding=1), x)
    _backward(F.max_pool2d(x, 2), x)
    _backward(F.avg_pool2d(x, 2), x)
    _backward(torch.einsum("bol,bkl->ok", x.flatten(2), x.flatten(2)), x)


def _numbers() -> None:
    for tensor in (
        torch.tensor([1.0, 2.0]), torch.tensor(3), torch.tensor([[True, False]]), torch.arange(5), torch.eye(3),
        torch.linspace(0, 1, 5), torch.zeros(2, 3), torch.ones(2), torch.full((2,), 1.5), torch.randn(3, 3),
        torch.randint(0, 9, (4,)), torch.randperm(5), torch.rand(40, 40), torch.empty(0), torch.tensor(float("nan")),
        torch.randn(3, requires_grad=True) * 2, torch.tensor([1e-9, 1e9]), torch.ones(2, dtype=torch.float64),
        torch.tensor([1 + 2j]), torch.multinomial(torch.ones(3), 2), torch.bernoulli(torch.ones(3) * 0.5),
    ):  # fmt: skip
        (
            f"{tensor}",
            repr(tensor),
            str(tensor.shape),
            str(tensor.dtype),
            tensor.tolist(),
            f"{tensor.dtype!r} {tensor.device}",
        )
    x: Any = torch.arange(6)
    f"{x.sum().item():.3f}", bool(x[0] == 0), int(x[1]), float(x[2]), len(x), list(x), x.unique(), x.bincount()
    x.argmax(), x.argmin(0), x.argsort(), x.nonzero(), x.cumsum(0), (x > 1).any(), (x < 9).all(), torch.equal(x, x)
    torch.allclose(x.float(), x.float()), torch.isnan(x.float()), torch.isfinite(x.float()), x.float().histc(3)
    torch.histogram(x.float(), 3), x.max(0), torch.return_types, torch.isclose(x.float(), x.float())
    torch.rand(3, generator=torch.Generator().manual_seed(3)), torch.normal(0.0, 1.0, (3,))
    torch.linalg.inv(torch.eye(3)), torch.linalg.det(torch.eye(3)), torch.trace(torch.eye(3))
    _custom_function()


def _custom_function() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            return upstream * 2 + 0 * ctx.saved_tensors[0]

    double: Any = Double
    x: Any = torch.ones(3, requires_grad=True)
    double.apply(x).sum().backward()
    torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum().backward()


_MISTAKES = (
    "torch.ones(2, 3) @ torch.ones(2, 3)",
    "torch.ones(2, 3) + torch.ones(2, 4)",
    "torch.ones(2, 3).view(7)",
    "torch.ones(2, 3).T.view(6)",
    "torch.ones(2).sum(1)",
    "torch.ones(2)[5]",
    "torch.ones(2).no_such_method",
    "F.one_hot(torch.ones(2), 3)",
    "F.cross_entropy(torch.ones(2, 3), torch.ones(2))",
    "torch.ones(2, 3).index_add_(0, torch.tensor([9]), torch.ones(1, 3))",
    "torch.ones(2, dtype=torch.long).div_(2)",
    "torch.ones(2, dtype=torch.long) @ torch.ones(2)",
    "bool(torch.ones(2))",
    "torch.ones(2).backward()",
    "torch.zeros(1, requires_grad=True).add_(1)",
    "torch.tensor('x')",
    "torch.sum('x', 1, 2, 3)",
    "torch.zeros(10**15)",
    "no_such_name",
    "1 / 0",
    "compile('x = (', 'submission', 'exec')",
    "torch.einsum('ij,kl', torch.ones(2))",
    "torch.ones(2, 3).reshape(-1, 4)",
    "torch.cat([torch.ones(2), torch.ones(2, 2)])",
)


def _errors() -> None:
    """Make every kind of mistake once, and format it as a learner would see it."""
    for mistake in _MISTAKES:
        try:
            exec(compile(mistake, "submission", "exec"), {"torch": torch, "F": F})
        except Exception as error:
            "".join(traceback.format_exception(error))
        else:
            raise AssertionError(mistake)
