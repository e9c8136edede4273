"""Shapes read from source are the ones torch makes, or are left out."""

import ast
import math
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from app.content.blocks import Forward, Input, SourceLocation
from app.grading.forward.data import draw_inputs
from app.grading.operations.collisions import CollisionError
from app.grading.reading.line_reader import LineReader
from app.grading.reading.shape_inference import infer_shapes, read_program
from app.practice.draw import generate_item, named_items
from tests.courses import LESSONS, course_in
from tests.grading.programs.load import PROGRAMS
from tests.grading.unseen.load import BOXES

DIMS = {"B": 2, "T": 3, "N": 6, "D": 4, "H": 5}
INPUTS = {
    "X": ("N", "D"),
    "W": ("D", "H"),
    "b": ("H",),
    "row": ("1", "D"),
    "col": ("N", "1"),
    "v": ("D",),
    "E": ("B", "T", "D"),
    "Q": ("B", "T", "T"),
    "P": ("B", "D", "T"),
    "s": (),
    "img": ("B", "3", "7", "8"),
    "ker": ("H", "3", "3", "2"),
}
WHOLE = {"ix": ("N",), "grid": ("B", "T")}
BOUND = 4


def program(source: str) -> Forward:
    inputs = [Input(name=name, sizes=sizes, distribution="positive") for name, sizes in INPUTS.items()]
    inputs += [Input(name=name, sizes=sizes, distribution="ints", bound=str(BOUND)) for name, sizes in WHOLE.items()]
    place = SourceLocation("test.md", 1)
    return Forward(place=place, name="f", dims=DIMS, inputs=tuple(inputs), output="y", source=source, source_line=1)


def run(source: str) -> dict[str, tuple[int, ...]]:
    """The shapes that torch makes; whatever torch refuses is no shape."""

    def sizes(names: tuple[str, ...]) -> list[int]:
        return [DIMS[name] if name in DIMS else int(name) for name in names]

    scope: dict[str, object] = {"torch": torch, "F": F, "math": math, **DIMS}
    generator = torch.Generator().manual_seed(7)
    scope |= {name: torch.rand(sizes(shape), generator=generator) + 0.5 for name, shape in INPUTS.items()}
    scope |= {name: torch.randint(0, BOUND, sizes(shape), generator=generator) for name, shape in WHOLE.items()}
    exec(compile(source, "test", "exec"), scope)
    tree = ast.parse(source)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    values = {name: scope[name] for name in names}
    return {name: tuple(value.shape) for name, value in values.items() if isinstance(value, torch.Tensor)}


CASES = """
Y = X @ W + b
Y = F.linear(X, W.T, b)
y = X @ v
y = v @ W
y = v @ v
y = E @ W
y = E @ P
y = torch.einsum("btd,bdu->btu", E, P)
y = torch.einsum("nd,dh", X, W)
m = X.mean(0, keepdim=True); c = X - m; u = c / (X.var(0, keepdim=True, unbiased=True) + 1e-5) ** 0.5
y = X.var(0, True)
y = X.var(False)
y = X.std(dim=1)
y = (X * row / col).sum((0, 1))
y = X.sum()
y = torch.sum(E, dim=(0, 2), keepdim=True)
y = E.amax((0, 1))
y = X.max(1, keepdim=True).values
y = torch.max(X, 1)[0]
y, i = X.max(1)
y = X.max()
y = torch.maximum(X, row)
y = X.logsumexp(1)
y = torch.logsumexp(X, 1, keepdim=True)
y = torch.softmax(X, dim=-1)
y = F.log_softmax(X, 1)
y = X.reshape(2, -1)
y = E.view(B * T, D)
y = E.view(B, -1)
y = E.flatten(1)
y = E.flatten(0, 1)
y = E.transpose(1, 2)
y = torch.transpose(X, 0, 1)
y = E.permute(2, 0, 1)
y = X.T
y = E.mT @ E
y = X.t()
y = X[0]
y = X[1:3, ::2]
y = X[:, None, :]
y = X[..., -1]
y = E[:, -1]
y = E[0, :, 1]
y = X[torch.arange(N), ix]
y = -torch.log_softmax(X, 1)[torch.arange(N), ix].mean()
y = X[ix]
y = X[grid]
y = W[grid].view(B, T * H)
y = F.embedding(grid, W)
y = E[:, [0, 2]]
y = img[0, :, [1, 2]]
y = img[:, [0, 1], :, [1, 2]]
y = torch.cat([X, X], 1)
y = torch.cat((X, X))
y = torch.stack([v, v, v])
y = torch.stack([X, X], dim=-1)
q, k = X.split(2, 1)
q, k = X.chunk(2, dim=0)
p, q = E.unbind(0)
y = F.cross_entropy(X, ix)
y = F.cross_entropy(X, ix, reduction="none")
y = F.mse_loss(X, X)
y = F.one_hot(ix, D)
y = F.one_hot(ix, D).float() @ W
y = (X > 1).float() * X
y = torch.where(X > 1, X, col)
y = E.masked_fill(torch.ones(T, D).triu(1).bool(), -math.inf)
y = (Q @ Q.transpose(-2, -1)) * D ** -0.5
y = X.unsqueeze(1) * X
y = col.squeeze(1)
y = col.squeeze()
y = row.expand(N, D)
y = row.expand_as(X)
y = X.clamp(max=1).pow(2).sqrt()
y = X.norm(dim=1)
y = X.gather(1, ix[:, None])
y = torch.zeros(N, D) + X
y = torch.zeros_like(X) + torch.full((D,), 2.0)
y = X.reshape(X.shape[0], 2, -1)
y = X.view(X.size(0), 2, D // 2)
y = s * X
y = torch.exp(s)
y = X.unfold(1, 2, 1)
y = F.conv2d(img, ker, padding=1)
y = F.conv2d(img, ker, stride=(2, 1))
y = X.cumsum(1).tril()
y = X.argmax(1)
y = F.layer_norm(X, (D,))
y = torch.outer(v, v)
y = X.exp2()
y = X.tan()
y = X.floor()
y = X.ceil()
y = X.nan_to_num()
y = X.isnan()
y = X.isinf()
y = X.isfinite()
y = X.clone()
y = X.detach()
y = X.contiguous()
y = X.cpu()
y = X.reciprocal()
y = X.rsqrt()
y = X.erf()
y = X.log2()
y = X.sign()
y = F.elu(X)
y = F.selu(X)
y = F.mish(X)
y = F.leaky_relu(X)
y = F.relu6(X)
y = F.hardtanh(X)
y = F.dropout(X)
y = F.normalize(X)
y = F.silu(X)
y = F.softplus(X)
y = F.logsigmoid(X)
y = torch.fmod(X, col)
y = torch.remainder(X, col)
y = torch.atan2(X, col)
y = torch.hypot(X, col)
y = torch.logaddexp(X, col)
y = torch.logical_and(X, col)
y = torch.logical_or(X, col)
y = torch.maximum(X, col)
y = torch.minimum(X, col)
y = torch.add(X, col)
y = torch.sub(X, col)
y = torch.div(X, col)
y = torch.ge(X, col)
y = torch.ne(X, col)
y = X.clamp_min(0.5)
y = X.clamp_max(0.5)
y = torch.nansum(X, 1)
y = X.nanmean(0, keepdim=True)
y = X.argsort(1)
y = X.swapdims(0, 1)
y = X.H
y = F.l1_loss(X, X)
y = F.huber_loss(X, X, reduction="none")
y = F.smooth_l1_loss(X, X, reduction="none")
y = F.nll_loss(X, ix)
y = F.nll_loss(X, ix, reduction="none")
y = F.binary_cross_entropy(X.sigmoid(), X.sigmoid())
y = torch.rand(N, D) + torch.randn(D) + torch.empty(N, D)
y = torch.randn_like(X) * torch.rand_like(X)
y = F.conv2d(img, ker, dilation=(2, 1))
y = X.sum(axis=1)
y = X.mean(dim=[0])
y = X.min(0).indices
y, i = X.min(0, keepdim=True)
y = X.to(W.dtype)
y = torch.einsum("nd,de->ne", X, W)
y = torch.einsum("nd,n", X, v[[0, 1, 2, 3, 0, 1]])
y = X[0, None, :2]
y = E[:, 0, [0, 1]]
y = E[0, grid[0], :]
y = X.scatter_add(0, ix[:, None].expand(N, D), X)
y = X.index_add(0, ix, X)
y = X.prod(1)
y = torch.eye(N, D) + torch.eye(D)[:1]
y = X.repeat(2, 1)
y = torch.outer(v, b).tril()
y = X.requires_grad_()
y = X[[0, 2, 1]]
y = torch.cdist(X, E)
y = torch.tensor([[[[[1.0, 2.0]]]]])
y = X.masked_fill(X > 0, float("-inf")); z = torch.softmax(y, 1)
y = torch.where(X > 0, X, float("nan")) * float("2.5e1")
y = F.conv1d(torch.zeros(2, 6, 9), torch.zeros(4, 3, 2), groups=2)
"""


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_case_has_the_shapes_of_torch(case):
    source = case.replace("; ", "\n")
    shapes = infer_shapes(program(source))
    made = run(source)

    for name, shape in made.items():
        assert shapes.get(name) == shape


OPERANDS = [*INPUTS, *WHOLE, "(1)", "(2.0)", "D", "X.T", "E.mT"]
STEPS = [
    "{a} @ {b}",
    "{a} + {b}",
    "{a} * {b}",
    "{a} > {b}",
    "{a}.{reduction}({axis})",
    "{a}.{reduction}({axis}, keepdim=True)",
    "{a}.{reduction}(({axis}, {other}))",
    "torch.{reduction}({a}, dim={axis})",
    "{a}.max({axis}).values",
    "{a}.transpose({axis}, {other})",
    "{a}.permute({axis}, {other})",
    "{a}.permute({axis}, {other}, 0)",
    "{a}.reshape({axis}, {other})",
    "{a}.reshape(-1, {other})",
    "{a}.view({other}, -1, {axis})",
    "{a}.flatten({axis}, {other})",
    "{a}.unsqueeze({axis})",
    "{a}.squeeze({axis})",
    "{a}.expand({axis}, {other}, -1)",
    "{a}[{axis}]",
    "{a}[{axis}:{other}]",
    "{a}[:, {axis}]",
    "{a}[..., {axis}]",
    "{a}[None, :, {axis}]",
    "{a}[{b}]",
    "{a}[:, {b}]",
    "{a}[{b}, {axis}]",
    "{a}[{b}, :, {axis}]",
    "{a}[:, {b}, {b}]",
    "{a}[torch.arange(N), {b}]",
    "torch.cat([{a}, {b}], {axis})",
    "torch.stack([{a}, {b}], {axis})",
    "{a}.split({other}, {axis})[0]",
    "{a}.chunk({other}, {axis})[-1]",
    "{a}.unbind({axis})[0]",
    "F.cross_entropy({a}, {b})",
    "F.one_hot({a}, 5)",
    "F.softmax({a}, {axis})",
    "torch.where({a} > 1, {b}, {a})",
    "{a}.gather({axis}, {b})",
    "{a}.index_select({axis}, {b})",
    "{a}.expand_as({b})",
    "{a}.tanh()",
    "F.embedding({a}, {b})",
    "F.linear({a}, {b})",
    "F.mse_loss({a}, {b}, reduction='none')",
    "{a}.mT",
    "{a}.masked_fill({b} > 1, 0.0)",
    "{a}.unfold({axis}, {other}, 1)",
]
TORCH_REFUSES = (
    RuntimeError, IndexError, TypeError, ValueError, NameError, AttributeError, SyntaxError, UserWarning,
)  # fmt: skip
AXES = st.integers(-3, 4)
STEP = st.fixed_dictionaries(
    {
        "step": st.sampled_from(STEPS),
        "a": st.sampled_from([*OPERANDS, "t0", "t1", "t2"]),
        "b": st.sampled_from([*OPERANDS, "t0", "t1", "t2"]),
        "reduction": st.sampled_from(["sum", "mean", "amax", "logsumexp", "var", "std", "argmax", "amin"]),
        "axis": AXES,
        "other": AXES,
    }
)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # many a drawn line does not fit
@given(st.lists(STEP, min_size=1, max_size=3))
def test_what_is_told_is_what_torch_does(steps):
    """A shape is the one that torch gives, and where shapes collide, torch does not run."""
    lines = [f"t{number} = {one['step'].format(**one)}" for number, one in enumerate(steps)]
    told: dict[int, object] = {}
    reader = LineReader(read_program(program(""), DIMS).scope, lambda line, given: told.setdefault(line.lineno, given))
    reader.read(ast.parse("\n".join(lines)).body)
    try:
        made = run("\n".join(lines))
    except TORCH_REFUSES:
        event("torch refuses")
        return

    assert not [given for given in told.values() if isinstance(given, CollisionError)]
    assert {name: array.shape for name, array in reader.arrays.items() if name in made} == {
        name: made[name] for name in reader.arrays if name in made
    }


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(STEP)
def test_shapes_that_collide_are_refused_by_torch(step):
    line = f"y = {step['step'].format(**step)}"
    met: list[object] = []
    reader = LineReader(read_program(program(""), DIMS).scope, lambda _, given: met.append(given))
    reader.read(ast.parse(line).body)
    assume(met and isinstance(met[0], CollisionError))

    with pytest.raises(TORCH_REFUSES):
        run(line)


@given(st.text(alphabet="XWbyt01()[],.:=@+-* \n'sumvie", max_size=80) | st.text(max_size=80))
def test_any_source_gives_shapes_without_an_error(source):
    assert isinstance(infer_shapes(program(source)), dict)


@pytest.mark.parametrize(
    "source",
    [
        "y = X.view(9 ** 9 ** 9)",
        "y = " + "(" * 5000 + "X" + ")" * 5000,
        "y = " + "-" * 3000 + "X",
        "y = [X] * 10 ** 9",
        "y = torch.arange(10 ** 18)",
        "y = torch.zeros(10 ** 9).unbind(0)",
        "y = open('/etc/passwd')",
        "y = X.__class__",
    ],
)
def test_hostile_sources_cost_nothing(source):
    shapes = infer_shapes(program(source))

    assert shapes.get("y", ()) in ((), (10**18,))


def test_sizes_remember_their_dims():
    shapes = infer_shapes(program("Y = X @ W + b\nm = Y.mean(0, keepdim=True)\nC = Y - m\nz = E.view(B, T * D)"))
    names = {tensor: [getattr(size, "name", "") for size in shape] for tensor, shape in shapes.items()}

    assert (names["Y"], names["m"], names["C"]) == (["N", "H"], ["", "H"], ["N", "H"])
    assert names["z"] == ["B", ""]


def forwards() -> Iterator[Forward]:
    """Programs of the course, of practice, and of public code."""
    for lesson in course_in(LESSONS).lessons:
        yield from (block for block in lesson.blocks if isinstance(block, Forward))
    for level in (1, 2, 3):
        yield from (item.program for item in (*named_items(level), *(generate_item(level, seed) for seed in range(8))))
    yield from (public.forward for public in PROGRAMS)
    yield from (box.forward for box in BOXES)


NOT_READ = frozenset({"im2col"})
"""Programs of public code with an operation that is not read."""


def test_every_tensor_of_every_program_has_the_shape_of_torch():
    for forward in forwards():
        drawn = draw_inputs(forward, forward.dims, "seed", "float32")
        scope: dict[str, object] = {"torch": torch, "F": F, "math": math, **forward.dims}
        scope |= {name: torch.from_numpy(array) for name, array in drawn.items()}
        exec(compile(forward.source, "test", "exec"), scope)
        written = {node.id for node in ast.walk(ast.parse(forward.source)) if isinstance(node, ast.Name)}
        made = {name: scope[name] for name in written | drawn.keys() if isinstance(scope.get(name), torch.Tensor)}

        shapes = infer_shapes(forward)
        assert forward.name in NOT_READ or shapes.keys() == made.keys(), forward.name
        assert shapes == {name: tuple(made[name].shape) for name in shapes}, forward.name


@pytest.mark.parametrize(
    "source",
    [
        "y = X[X > 1]",
        "y = F.one_hot(ix)",
        "y = torch.arange(ix.max() + 1)",
        "y = X[: ix.max() + 1]",
        "y = ix.bincount()",
    ],
)
def test_a_shape_that_the_numbers_decide_is_left_out(source):
    assert "y" not in infer_shapes(program(source))


def test_a_program_on_large_data_has_its_shapes():
    inputs = (Input(name="X", sizes=("N", "D")), Input(name="W", sizes=("D", "H")))
    dims = {"N": 5000, "D": 784, "H": 128}
    source = "h = (X @ W).relu()\nL = F.cross_entropy(h, torch.zeros(N).long())"
    forward = Forward(
        place=SourceLocation("test.md", 1), name="f", dims=dims, inputs=inputs, output="L", source=source, source_line=1
    )

    assert infer_shapes(forward) == {"X": (5000, 784), "W": (784, 128), "h": (5000, 128), "L": ()}
