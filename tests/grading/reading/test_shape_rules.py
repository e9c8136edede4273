"""Every operation that the gate lets through has the shape that torch gives it, or none."""

import ast
import math
import warnings
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given
from hypothesis import strategies as st

from app.grading.reading.abstract import Abstract, CollisionError
from app.grading.reading.shape_reader import ShapeReader
from app.grading.reading.shape_rules import RULES_OF_SHAPE
from app.sandbox.vocabulary import ATTRIBUTES

SHAPES = {
    "X": (6, 4), "W": (4, 5), "Y": (6, 4), "b": (5,), "v": (4,), "u": (4,), "row": (1, 4), "col": (6, 1), "s": (),
    "E": (2, 3, 4), "P": (2, 4, 3), "Q": (4, 4), "img": (2, 3, 7, 8), "ker": (5, 3, 3, 2), "seq": (2, 3, 9),
    "k1": (5, 3, 2), "up": (3, 5, 3, 2), "sh": (2, 4, 3, 3), "vol": (1, 2, 4, 5, 6), "k3": (3, 2, 2, 2, 2),
}  # fmt: skip
WHOLE = {"ix": (6,), "grid": (2, 3), "iy": (6, 2)}
SIZES = {"N": 6, "D": 4, "H": 5}

ENTRYWISE = """
abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil cos cosh deg2rad
digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 isfinite isinf isnan isneginf isposinf isreal lgamma log
log10 log1p log2 logical_not logit nan_to_num neg negative rad2deg reciprocal relu round rsqrt sgn sigmoid sign signbit
sin sinc sinh sqrt square tan tanh trunc tril triu
fliplr flipud msort clone contiguous detach cpu double float half long
int bool short byte char bfloat16 zero_ t
"""
OF_F = """
celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 rrelu selu silu softplus
softshrink softsign tanhshrink dropout normalize
"""
OF_TWO = """
add sub mul div subtract multiply divide true_divide floor_divide pow float_power fmod remainder maximum minimum fmax
fmin atan2 arctan2 hypot logaddexp logaddexp2 copysign heaviside xlogy eq ne gt ge lt le greater greater_equal less
less_equal not_equal logical_and logical_or logical_xor isclose ldexp dist allclose
"""
REDUCED = "sum nansum mean nanmean logsumexp amax amin all any var std median nanmedian max min mode cummax cummin norm"
ONE_AXIS = "prod argmax argmin cumsum cumprod logcumsumexp argsort sort softmax log_softmax diff"
OTHERS = Path(__file__).with_name("calls.txt").read_text().splitlines()

CALLS = [
    *(f"X.{name}()" for name in ENTRYWISE.split()),
    *("X.H", "X.T", "X.mT", "X.mH", "F.softmin(X, 1)"),
    *(f"F.{name}(X)" for name in OF_F.split()),
    *(f"torch.{name}(X, {other})" for name in OF_TWO.split() for other in ("Y", "row", "col", "v")),
    *(f"torch.{name}(X, dim=1)" for name in REDUCED.split()),
    *(f"E.{name}(dim=-1, keepdim=True)" for name in REDUCED.split() if not name.startswith("cum")),
    *(f"X.{name}()" for name in REDUCED.split() if name not in {"logsumexp", "mode", "cummax", "cummin"}),
    *(f"torch.{name}(E, dim={dim})" for name in ONE_AXIS.split() for dim in (0, -1)),
    *OTHERS,
]  # fmt: skip
BY_NUMBERS = frozenset(
    [
        "argwhere",
        "bincount",
        "histogram",
        "masked_select",
        "nonzero",
        "unique",
        "unique_consecutive",
        "combinations",
        "unravel_index",
    ]
)
"""How many entries come out is for the numbers to say."""
WITHOUT_SHAPE = frozenset(
    [
        "BoolTensor",
        "DoubleTensor",
        "FloatTensor",
        "Generator",
        "IntTensor",
        "LongTensor",
        "Size",
        "Tensor",
        "can_cast",
        "device",
        "dtype",
        "e",
        "eps",
        "finfo",
        "float16",
        "float32",
        "float64",
        "functional",
        "iinfo",
        "inf",
        "int16",
        "int32",
        "int64",
        "int8",
        "itemsize",
        "layout",
        "linalg",
        "math",
        "nan",
        "nbytes",
        "nn",
        "no_grad",
        "pi",
        "promote_types",
        "resolution",
        "result_type",
        "smallest_normal",
        "strided",
        "tiny",
        "uint8",
        "shape",
        "ndim",
        "append",
        "center",
        "clear",
        "count",
        "difference",
        "discard",
        "endswith",
        "extend",
        "get",
        "index",
        "insert",
        "intersection",
        "items",
        "join",
        "keys",
        "ljust",
        "lower",
        "lstrip",
        "pop",
        "remove",
        "replace",
        "reverse",
        "rjust",
        "rstrip",
        "setdefault",
        "startswith",
        "strip",
        "union",
        "update",
        "upper",
        "zfill",
    ]
)
"""No operations on tensors, or their results are none; `reader` knows those that matter to a shape."""
FIELDS = frozenset(
    [
        "H",
        "T",
        "mT",
        "mH",
        "values",
        "indices",
        "Q",
        "R",
        "S",
        "U",
        "V",
        "Vh",
        "eigenvalues",
        "eigenvectors",
        "logabsdet",
    ]
)
UNREAD = frozenset(["bilinear", "cholesky_solve", "complex", "imag", "eig", "eigvals", "fold", "lstsq", "lu"])
"""Complex numbers, and what no backward pass needs."""


def scope() -> dict[str, object]:
    generator = torch.Generator().manual_seed(7)
    tensors = {name: torch.rand(shape, generator=generator) + 0.5 for name, shape in SHAPES.items()}
    whole = {name: torch.randint(0, 2, shape, generator=generator) for name, shape in WHOLE.items()}
    return {"torch": torch, "F": F, "math": math, **SIZES, **tensors, **whole}


def told(source: str) -> dict[str, object]:
    shapes = {name: Abstract(shape) for name, shape in SHAPES.items()}
    whole = {name: Abstract(shape, "i") for name, shape in WHOLE.items()}
    met: list[CollisionError] = []
    reader = ShapeReader(
        {**SIZES, **shapes, **whole}, lambda _, given: met.append(given) if isinstance(given, CollisionError) else None
    )
    reader.run(ast.parse(source).body)
    return {**reader.scope, "collided": met}


def shape_in(value: object) -> object:
    if isinstance(value, torch.Tensor | Abstract):
        return tuple(value.shape)
    return tuple(shape_in(one) for one in value) if isinstance(value, tuple | list) else None


@pytest.mark.parametrize("call", CALLS)
def test_an_operation_has_the_shape_of_torch(call):
    made = scope()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(f"y = {call}", "test", "exec"), made)

    assert shape_in(told(f"y = {call}").get("y")) == shape_in(made["y"])


def test_every_word_of_the_gate_has_a_rule_or_a_reason_to_be_silent():
    known = {*RULES_OF_SHAPE, *BY_NUMBERS, *WITHOUT_SHAPE, *FIELDS, *UNREAD}

    assert {word for word in ATTRIBUTES if word.rstrip("_") not in known} == set()


def test_every_rule_is_tried():
    tried = {name for call in CALLS for name in ast.walk(ast.parse(call)) if isinstance(name, ast.Attribute)}
    of_numbers = {"item", "tolist", "manual_seed", "initial_seed", "element_size", "stride"}
    plain = {
        name for name, rule in RULES_OF_SHAPE.items() if rule is RULES_OF_SHAPE["item"] or rule is RULES_OF_SHAPE["gcd"]
    }

    assert set(RULES_OF_SHAPE) - {one.attr.rstrip("_") for one in tried} - of_numbers - plain - NO_TENSORS == set()


NO_TENSORS = frozenset(
    [
        "equal",
        "is_same_size",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "is_tensor",
        "is_contiguous",
        "real",
        "bitwise_not",
        "broadcast_shapes",
        "ndimension",
        "nelement",
        "requires_grad",
        "cbrt",
        "gamma",
    ]
)
"""Rules that give no tensor, or that torch has under another name alone."""


PARTS = [*SHAPES, *WHOLE, "X.T", "(N / 2)", "N"]
STEPS = [
    "{a} @ {b}", "{a} + {b}", "{a} * {b}", "{a} - {b}", "torch.cat([{a}, {b}], {i})", "torch.stack([{a}, {b}], {i})",
    "{a}.reshape({i}, {j})", "{a}.view({i}, {j}, -1)", "{a}.sum({i})", "{a}.mean(({i}, {j}), keepdim=True)",
    "{a}.transpose({i}, {j})", "{a}.expand({i}, {j}, 4)", "F.linear({a}, {b})", "{a}[{i}]", "{a}[:, {b}]",
    "{a}[{b}, {i}]", "torch.bmm({a}, {b})", "{a}.unsqueeze({i}) * {b}",
    "F.mse_loss({a}, {b})", "{a}.gather({i}, {b})",
    "{a}.masked_fill({b} > 1, 0.0)", "torch.einsum('ab,bc->ac', {a}, {b})", "F.cross_entropy({a}, {b})",
    "{a}.add_({b})", "torch.where({a} > 1, {a}, {b})", "{a}.flatten({i}, {j})",
    "torch.outer({a}, {b})", "{a}.squeeze({i})", "{a}.T",
]  # fmt: skip
STEP = st.builds(
    lambda step, a, b, i, j: step.format(a=a, b=b, i=i, j=j),
    st.sampled_from(STEPS),
    st.sampled_from([*PARTS, "t0", "t1"]),
    st.sampled_from([*PARTS, "t0", "t1"]),
    st.integers(-3, 6),
    st.integers(-3, 6),
)


@given(st.lists(STEP, min_size=1, max_size=3))
def test_what_is_told_is_what_torch_does(steps):
    """A shape is the one that torch gives, and where shapes cannot meet, torch does not run."""
    source = [f"t{at} = {step}" for at, step in enumerate(steps)]
    made, failed = scope(), False
    for line in source:
        try:
            exec(compile(line, "test", "exec"), made)
        except (
            RuntimeError,
            IndexError,
            TypeError,
            ValueError,
            NameError,
            AttributeError,
            UserWarning,
            DeprecationWarning,
        ):
            failed = True
            break
    found = told("\n".join(source))

    if found["collided"]:
        assert failed
    shapes = {
        name: shape_in(found[name])
        for name in made
        if name[0] == "t" and name[1:].isdigit() and shape_in(found.get(name))
    }
    assume(not failed or shapes)
    assert shapes == {name: shape_in(made[name]) for name in shapes}
