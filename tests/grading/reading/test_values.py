"""Each operation that can be read has the value that torch gives it."""

import ast
import math

import numpy as np
import torch
import torch.nn.functional as F

from app.grading.operations.table import NAMES, OPERATIONS
from app.grading.reading.line_reader import LineReader

SHAPES = {
    "X": (6, 4), "W": (4, 5), "Y": (6, 4), "b": (5,), "v": (4,), "u": (4,), "row": (1, 4), "col": (6, 1), "s": (),
    "E": (2, 3, 4), "P": (2, 4, 3), "Q": (4, 4), "img": (2, 3, 7, 8), "ker": (5, 3, 3, 2), "seq": (2, 3, 9),
    "k1": (5, 3, 2), "up": (3, 5, 3, 2), "sh": (2, 4, 3, 3), "vol": (1, 2, 4, 5, 6), "k3": (3, 2, 2, 2, 2),
}  # fmt: skip
WHOLE = {"ix": (6,), "grid": (2, 3), "iy": (6, 2)}
SIZES = {"N": 6, "D": 4, "H": 5}
EXPRESSIONS = """
E.movedim(0, 2) | E.permute(2, 0, 1) | E.repeat_interleave(2, 1) | E.swapaxes(0, 1) | E.swapdims(1, 2)
F.avg_pool1d(seq, 3) | F.avg_pool2d(img, 2) | F.celu(X) | F.conv1d(seq, k1) | F.conv1d(seq, k1, stride=2, padding=1)
F.conv1d(torch.cat([seq, seq], 1), torch.cat([k1, k1])[:4], groups=2) | F.conv2d(img, ker, dilation=(2, 1))
F.conv1d(seq, k1, b) | F.conv2d(img, ker, b) | F.conv3d(vol, k3) | F.conv_transpose1d(seq, up[:, :, 0])
F.conv_transpose2d(img, up) | F.conv_transpose2d(img, up, stride=2, padding=1)
F.conv_transpose2d(img, up, stride=2, padding=1, output_padding=1, dilation=2)
F.conv_transpose3d(vol, k3.transpose(0, 1)) | F.elu(X)
torch.split_with_sizes(X, [2, 4]) | F.embedding(grid, W) | F.gelu(X) | F.glu(X) | F.hardswish(X)
F.hardtanh(X) | F.layer_norm(X, (4,)) | F.leaky_relu(X) | F.linear(X, W.T, b) | F.logsigmoid(X) | F.max_pool1d(seq, 2)
F.max_pool2d(img, 3, stride=1, padding=1) | F.mish(X) | F.normalize(X) | F.one_hot(ix, 7) | F.pad(X, (1, 2))
F.pixel_unshuffle(sh[:, :, :2, :2], 2) | F.prelu(X, v) | F.relu6(X) | F.rms_norm(X, (4,))
F.scaled_dot_product_attention(E, E, E) | F.scaled_dot_product_attention(E, E[:, :2], E[:, :2]) | F.selu(X)
F.silu(X) | F.softplus(X) | F.softsign(X) | Q.logdet() | X.H | X.T | X.abs() | X.absolute() | X.acos() | X.acosh()
X.adjoint() | X.arcsin() | X.arcsinh() | X.arctan() | X.arctanh() | X.asin() | X.asinh() | X.atan() | X.atanh()
X.bool() | X.ceil() | X.chunk(4) | X.clamp_max(0.5) | X.clamp_min(0.5) | X.clip(max=row) | X.clone() | X.contiguous()
X.cos() | X.cosh() | X.cpu() | X.deg2rad() | X.detach() | X.diag() | X.diagonal() | X.double() | X.erf() | X.erfc()
X.exp() | X.exp2() | X.expm1() | X.fill_(1.0) | X.fill_diagonal_(1.0) | X.fix() | X.flatten() | X.fliplr()
X.flipud() | X.float() | X.floor() | X.frac() | X.gather(1, iy) | X.index_add(0, ix, X)
X.index_copy(0, torch.arange(6), Y) | X.index_put((ix,), Y, accumulate=True) | X.index_select(0, ix) | X.int()
X.isfinite() | X.isinf() | X.isnan() | X.isneginf() | X.isposinf() | X.lerp(Y, 0.5) | X.log() | X.log10() | X.log1p()
X.log2() | X.logical_not() | X.logit() | X.long() | X.mT | X.masked_fill(X > 0, 0.0) | X.max(1) | X.max(1).values
X.nan_to_num() | X.narrow(1, 1, 2) | X.neg() | X.negative() | X.new_full((2, 2), 1.5)
X.new_ones((2,)) | X.new_zeros(2, 3) | X.rad2deg() | X.reciprocal() | X.relu() | X.repeat(2, 3) | X.reshape(3, -1)
X.reshape_as(Y) | X.roll(1, 0) | X.round() | X.rsqrt() | X.scatter(0, iy, 1.0) | X.scatter_add(0, iy, X)
X.select(1, 0) | X.sgn() | X.sigmoid() | X.signbit() | X.sin() | X.sinc() | X.sinh() | X.split(4) | X.sqrt() | X.t()
X.take_along_dim(iy, 1) | X.tan() | X.tanh() | X.tile(2) | X.to(torch.float64) | X.topk(2, 0).indices | X.topk(2, 1)
X.tril() | X.triu() | X.type(torch.float64) | X.type_as(ix) | X.unbind() | X.unflatten(1, (2, 2)) | X.unfold(0, 2, 2)
X.unsqueeze(0) | X.view(-1) | X.view_as(Y) | X.zero_() | X[:4].trace() | col.squeeze() | ix.bitwise_or(1)
row.broadcast_to(6, 4) | row.expand(6, 4) | row.expand_as(X) | torch.add(X, Y) | torch.addcdiv(X, X, Y, value=0.5)
torch.addcmul(X, X, Y) | torch.addmm(b, X, W) | torch.all(X, dim=1) | torch.amax(X, dim=1) | torch.amin(X, dim=1)
torch.any(X, dim=1) | torch.arange(5) | torch.arctan2(X, Y) | torch.argmax(E, dim=0) | torch.argmin(E, dim=0)
torch.argsort(E, dim=0) | torch.as_tensor([1.0]) | torch.asarray([1.0]) | torch.atan2(X, Y)
torch.baddbmm(E @ P, E, P) | torch.bitwise_and(ix, ix) | torch.bitwise_xor(ix, ix) | torch.bmm(E, P)
torch.cdist(X, Y) | torch.clamp(X, 0, 1) | torch.concat([X, Y], dim=-1) | torch.concatenate([X, Y])
torch.copysign(X, Y) | torch.count_nonzero(X, 0) | torch.cumprod(E, dim=0) | torch.cumsum(E, dim=0)
torch.divide(X, Y) | torch.dot(v, u) | torch.einsum("bij,bjk->ik", E, P) | torch.einsum("nd,dh", X, W)
torch.einsum("nd,dh->hn", X, W) | torch.eq(X, Y) | torch.eye(3) | torch.flip(X, [0])
torch.float_power(X, Y) | torch.floor_divide(X, Y) | torch.fmax(X, Y) | torch.fmin(X, Y) | torch.fmod(X, Y)
torch.full((2, 3), 1.5) | torch.full_like(X, 2.0) | torch.ge(X, Y) | torch.ger(v, b) | torch.greater(X, Y)
torch.greater_equal(X, Y) | torch.gt(X, Y) | torch.heaviside(X, Y) | torch.hstack([v, u]) | torch.hypot(X, Y)
torch.inner(X, v) | torch.inverse(Q) | torch.kron(X, W) | torch.le(X, Y) | torch.less(X, Y) | torch.less_equal(X, Y)
torch.linalg.det(Q) | torch.linalg.inv(Q) | torch.linalg.solve(Q, W) | torch.linalg.vector_norm(X, dim=1)
torch.linspace(0, 1, 5) | torch.log_softmax(E, dim=0) | torch.logaddexp(X, Y) | torch.logaddexp2(X, Y)
torch.logical_and(X, Y) | torch.logical_or(X, Y) | torch.logical_xor(X, Y) | torch.logsumexp(X, dim=1)
torch.lt(X, Y) | torch.maximum(X, Y) | torch.mean(X, dim=1) | torch.minimum(X, Y) | torch.mm(X, W)
torch.moveaxis(E, (0, 1), (2, 0)) | torch.multiply(X, Y) | torch.mv(X, v) | torch.nanmean(X, dim=1)
torch.nansum(X, dim=1) | torch.ne(X, Y) | torch.norm(X, dim=1) | torch.not_equal(X, Y) | torch.ones(N, D)
torch.ones_like(X) | torch.outer(v, b) | torch.pinverse(X) | torch.prod(E, dim=0) | torch.ravel(E)
torch.remainder(X, Y) | torch.softmax(E, dim=0) | torch.sort(E, dim=-1) | torch.sort(E, dim=0) | torch.sort(X, 1)[1]
torch.stack([v, u]) | torch.std(X, dim=1) | torch.sub(X, Y) | torch.subtract(X, Y) | torch.sum(X, dim=1)
torch.tensor([[1.0, 2.0], [3.0, 4.0]]) | torch.tensordot(X, W, 1) | torch.true_divide(X, Y) | torch.var(X, dim=1)
F.fold(X.T[None], (3, 4), (2, 2)) | F.fold(X.T, (5, 6), 2, stride=(2, 3), padding=(0, 1), dilation=(2, 1))
torch.vdot(v, u) | torch.vstack([v, X]) | torch.where(X > 0, X, col) | torch.zeros(2, 3) | torch.zeros_like(X)
v.diag_embed() | +X | +N | X[+1:]
"""
LIST = [part.strip() for line in EXPRESSIONS.strip().splitlines() for part in line.split(" | ")]
DRAWN = frozenset(
    ["rand", "randn", "rand_like", "randn_like", "randint", "randperm", "empty", "empty_like", "new_empty", "dropout"]
)
"""Nobody knows the values of these."""
OTHERWISE = frozenset(
    [
        "half",
        "bfloat16",
        "gelu_tanh",
        "bincount",
        "item",
        "requires_grad",
        "pow",
        "copy_from",
        "add_multiple",
        "sub_multiple",
    ]
)
"""Numbers of less precision, other names, what gives no tensor; `test_trace` and others try these."""


def scope() -> dict[str, object]:
    generator = torch.Generator().manual_seed(7)
    tensors = {
        name: torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5 for name, shape in SHAPES.items()
    }
    return tensors | {name: torch.randint(0, 2, shape, generator=generator) for name, shape in WHOLE.items()}


def arrays_in(value: object) -> list[np.ndarray]:
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(part, dtype=np.float64) for part in parts]


def test_an_operation_has_the_value_that_torch_gives(subtests):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for text in LIST:
            with subtests.test(text), torch.no_grad():
                expected = eval(text, {"torch": torch, "F": F, "math": math, **SIZES, **scope()})
                numbers = {name: tensor.numpy() for name, tensor in scope().items()}
                reader = LineReader({**SIZES, **numbers})
                reader.read(ast.parse(f"y = {text}").body)

                pairs = zip(arrays_in(reader.scope["y"]), arrays_in(expected), strict=True)
                assert all(
                    here.shape == there.shape and np.allclose(here, there, equal_nan=True) for here, there in pairs
                )
    finally:
        torch.set_default_dtype(before)


def test_every_operation_is_tried():
    names = {node.attr.rstrip("_") for text in LIST for node in ast.walk(ast.parse(text)) if hasattr(node, "attr")}
    tried = names | {NAMES.get(name, name) for name in names}
    losses = {row.name for row in OPERATIONS.values() if row.form == "loss"}

    assert NAMES.keys() - tried - DRAWN - OTHERWISE - losses == set()
