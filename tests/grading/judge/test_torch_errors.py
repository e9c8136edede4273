"""Every error text of torch that a learner meets is told in the learner's own names."""

import ast
import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from app.grading.judge.fault import FILE, describe_error
from app.grading.judge.run_reports import parse_error
from app.grading.judge.torch_errors import translate_error

SCOPE = {
    "torch": torch,
    "math": math,
    "F": F,
    "X": torch.arange(2048.0).reshape(32, 64),  # the largest of a column stands in the last row
    "W": torch.randn(32, 27),
    "dY": torch.randn(32, 27),
    "b": torch.randn(27),
    "ix": torch.tensor([0, 1]),
    "bad": torch.tensor([0, 27]),
    "A": torch.randn(2, 3, 4),
    "B": torch.randn(2, 5, 6),
}

CASES = [
    ("r = dY * X", "do not fit together: at axis 1"),
    ("r = torch.einsum('nd nh->dh', X, dY)", "`einsum` is given more tensors than", "A comma separates the letters"),
    ("r = torch.einsum('nd,nh->dh', X)", "`einsum` is given fewer tensors than"),
    ("r = F.cross_entropy(ix, X)", "takes the scores first and the targets second"),
    ("r = F.softmax(ix, 0)", "A softmax takes scores, which are real numbers"),
    ("r = X.T * dY", "`X.T` (64, 32) and `dY` (32, 27) do not fit together entry by entry, with `*`: a matrix product"),
    ("r = X @ W", "cannot be multiplied", "`X` (32, 64)", "`W` (32, 27)"),
    ("r = X.T @ W.T", "cannot be multiplied", "`X.T` (64, 32)", "`W.T` (27, 32)"),
    ("r = 2 * (X @ W) + 1", "cannot be multiplied", "`X` (32, 64)"),
    ("r = torch.matmul(X, W)", "cannot be multiplied", "`X` (32, 64)", "`W` (32, 27)"),
    ("r = A @ B", "cannot be multiplied", "`A` (2, 3, 4)", "`B` (2, 5, 6)"),
    ("r = X @ b", "cannot be multiplied"),
    ("r = X * W", "do not fit together", "`X` (32, 64)", "`W` (32, 27)", "axis 1"),
    ("b += dY", "`b` has shape (27,)", "(32, 27)", "sum over an axis"),
    ("r = torch.zeros(4, 4)\nr[0, :2] = torch.ones(3)", "(3,)", "(2,)"),
    ("r = torch.zeros(5, 4)\nr[ix] = torch.ones(3, 4)", "(3, 4)", "(2, 4)"),
    ("r = torch.zeros(5, 4)\nr[:2] = torch.ones(3)", "Shape (3,) does not spread over shape (2, 4): an axis"),
    ("r = (b / 2).expand_as(X)", "Shape (27,) of `b / 2` does not spread over shape (32, 64) of `X`:"),
    ("r = b.expand(27, 2)", "Shape (27,) of `b` does not spread over shape (27, 2):"),
    ("r = b.expand(2, 27)\nr /= 2", "Several entries of `r` are one number in memory", "such as `dx = dx / n`"),
    ("r = b[ix, ix]", "`b` (27,) has fewer axes than indices stand in its brackets. Is another tensor meant"),
    ("r = X * 1\nr[torch.arange(3), ix] = 1", "The indices in the brackets have shapes (3,) and (2,)."),
    ("r = X.T.view(-1)", "memory order", "`X.T`", "`.reshape` does the same"),
    (
        "r = torch.ones(2, 6, 8) @ torch.ones(6, 4)",
        "cannot be multiplied",
        "is one of them transposed?",
    ),
    ("r = torch.ones(2, 5, 8) @ torch.ones(6, 4)", "cannot be multiplied", "no size in common"),
    ("r = X.T\nr.index_add_(0, ix, torch.ones(2, 64))", "has shape (2, 64)", "(64, 32) lies on its side"),
    ("r = X * 1\nr.index_add_(0, ix, torch.ones(2, 7))", "the same sizes but along the axis of the index"),
    ("r = X.reshape(32, 63)", "2,048 entries", "(32, 63)", "`X` (32, 64)"),
    ("r = X.reshape(32, 128 / 2)", "a size is a whole number", "`//`"),
    ("r = dY @ b.mT", "with 1 of them: there is nothing to turn"),
    ("r = X @ W.T", "cannot be multiplied", "in which order do the two stand for it"),
    ("r = F.one_hot(b)", "integer indices", "`b` (27,)"),
    ("r = F.one_hot(ix, 32) @ X", "same type of number", "int64", "float32"),
    ("r = F.one_hot(ix, 3)\nr /= 2", "cannot be stored in place", "`r`"),
    ("r = b[27]", "Index 27", "size 27"),
    ("r = torch.zeros(27, 4)\nr[bad]", "27", "size 27"),
    ("r = b.sum(2)", "no axis 2", "`b` (27,)"),
    ("if b > 0:\n    r = 1", "neither true nor false"),
    ("r = dZ + 1", "`dZ` does not exist", "Capital and small letters"),
    ("dZ == X @ W.T", "`==` compares", "One `=` assigns: `dZ = …`."),
    ("if True:\n    dZ == X", "`==` compares", "One `=` assigns"),
    ("r = dZ == X", "`dZ` does not exist", "Capital and small letters"),
    ("X == dZ", "`dZ` does not exist", "Capital and small letters"),
    ("r = X.sum(0, keepdim=true)", "Python writes `True`, with a capital letter"),
    ("r = X.sum(0, keepdim)", "`keepdim` is an option and needs a value", "`keepdim=True`"),
    ("r = zeros(3)", "it is `torch.zeros`"),
    ("r = sigmoid(X)", "it is `torch.sigmoid`"),
    ("r = one_hot(ix, 3)", "it is `F.one_hot`"),
    ("r = math.exp(-X)", "`math.exp` takes a single number", "`-X` is a tensor", "`torch.exp`"),
    ("r = math.sqrt(X.sum(0))", "`X.sum(0)` is a tensor", "`torch.sqrt`"),
    ("r = float(X)", "`float(X)` wants a single number"),
    ("r = X.item()", "`X.item()` wants a single number"),
    ("r = F.one_hot(X.argmax(0), 27)", "In `F.one_hot(X.argmax(0), 27)` an index", "along another axis"),
    ("r = X.sum().backward()", "autograd is the judge"),
    ("r = torch.zeros(3).index_add_(0, ix, torch.ones(3))", ""),
    ("r = 1 / 0", "ZeroDivisionError"),
    ("r = X.summ(0)", "summ"),
    ("raise KeyError", "KeyError"),
    ("return X", "This line is not Python yet: nothing is returned here; give the value to a name, such as `dx = …`."),
    ("break", "This line is not Python yet: 'break' outside loop."),
    ("assert False", "AssertionError"),
]

CALLS = [
    (
        "r = F.fold(torch.ones(9, 16), (6, 6), 3, padding=1)",
        "padding=1)`: with these sizes the window has 36 places, and 16",
    ),
    (
        "r = F.pad(X, 2)",
        "`F.pad(X, 2)` is given a number where it wants a tuple of ints. It takes two whole numbers for",
    ),
    (
        "r = F.pad(X, (0, 0, 2))",
        "`F.pad(X, (0, 0, 2))` is given an odd count of numbers. It takes two whole numbers for",
    ),
    ("r = F.pad(b, (0, 0, 2, 0))", "is given 4 numbers for one axis. It takes two", "such as `F.pad(x, (1, 1))`"),
    ("r = F.pad(X, (0.5, 1))", "`F.pad(X, (0.5, 1))` is given a fraction among what should be whole numbers."),
    ("r = F.pad(X, (1, X))", "`F.pad(X, (1, X))` is given a tensor among what should be whole numbers."),
    ("r = F.pad(X, (0, -65))", "`F.pad(X, (0, -65))` takes away more than the axis has."),
    ("r = X.transpose()", "`X.transpose()` is given too little", "`.transpose(0, 1)`", "`.T` does the same"),
    ("r = dY @ X.transpose(0)", "`X.transpose(0)`", "the two axes"),
    ("r = X.transpose(0, 1, 2)", "`X.transpose(0, 1, 2)` is given too much", "the two axes"),
    ("r = X.reshape()", "`X.reshape()` is given too little", "sizes of the result"),
    ("r = X.view()", "`X.view()` is given too little", "sizes of the result"),
    ("r = torch.sum()", "`torch.sum()` is given too little", "along axis 0"),
    ("r = torch.exp()", "`torch.exp()` is given too little", "the tensor to work on"),
    ("r = X.index_add_(0)", "`X.index_add_(0)` is given too little. It takes the axis, the places"),
    ("r = X.index_add_(0, b, ix)", "is given fractions where it wants places. It takes the axis, the places and"),
    ("r = X.index_add_(0, dY, ix)", "`X.index_add_(0, dY, ix)` is given fractions where it wants places."),
    ("r = X.permute(0)", "`X.permute(0)` names another number of axes than the tensor has. It takes every axis"),
    ("r = (lambda a, b: a)(1)", "Missing: `b`."),
    ("r = dY @ X.T()", "`X.T` is no function but a tensor already", "without the parentheses"),
    ("r = X.shape(0)", "`X.shape` is no function but a shape already", "without the parentheses"),
    ("r = X.grad()", "`X.grad` is `None`"),
    ("r = dY(X.T)", "`dY` is a tensor and cannot be called", "`*` or `@`"),
    ("r = 2\nr = r(X)", "`r` is a number and cannot be called", "`*` or `@`"),
    ("r = F(X)", "`F` is a module", "`F.softmax(x, 1)`"),
    ("r = X.mean(0, 1)", "`X.mean(0, 1)` names one axis only", "`keepdim`", "`.mean((0, 1))`"),
    ("r = torch.sum(X, 0, 1)", "`torch.sum(X, 0, 1)` names one axis only", "`.sum((0, 1))`"),
    ("r = torch.mean(X, 0, 1)", "`torch.mean(X, 0, 1)` names one axis only", "`.mean((0, 1))`"),
    ("r = X.sum(0, keep_dim=True)", "`sum` does not take `keep_dim` here. Did you mean `keepdim`?"),
    ("r = X.sum(axes=0)", "`sum` does not take `axes` here. Did you mean `axis`?"),
    ("r = X.var(0, keepdim=True, ddof=1)", "`var` does not take `ddof` here.", "in numpy is `correction` here."),
    ("r = X.std(0, ddof=1, keepdim=True)", "`std` does not take `ddof` here.", "in numpy is `correction` here."),
    ("r = F.softmax(X, 1, keepdim=True)", "`softmax` does not take `keepdim` here."),
    ("r = X.sum[0]", "`X.sum` is a function", "with parentheses"),
    ("r = X @ 2", "In `X @ 2`, `2` is a single number", "a number takes `*`"),
    ("r = None * X", "In `None * X`, `None` is `None`"),
    ("r = X.T @ dY.sum", "In `X.T @ dY.sum`, `dY.sum` is a function that was not called"),
    ("b += [1]", "In `b += [1]`, `[1]` is a list"),
    ("r = X.max(0) @ X", "holds values and their places", "`.values`"),
    ("r = X @ 'a'", "`'a'` is a Python `str`, which `@` cannot take."),
    ("r = X ^ 2", "`**`"),
    ("r = torch.exp(2)", "`torch.exp(2)` wants a tensor, not a plain number", "`math`"),
    ("r = torch.cat(X, dY)", "`torch.cat(X, dY)` is given a tensor where it wants a tuple", "`torch.cat([A, B])`"),
    ("r = X.sum('0')", "`X.sum('0')` cannot take `(str)`", "along axis 0"),
    ("r = X.pow()", "`X.pow()` is given too little", "`** 2` is the same"),
]


GRAPH = [
    ("a leaf Variable that requires grad is being used in an in-place operation.", "cannot be changed in place"),
    (
        "one of the variables needed for gradient computation has been modified by an inplace operation: [...]",
        "changed in place",
    ),
    ("Trying to backward through the graph a second time (or directly access saved tensors ...", "new forward pass"),
]


@pytest.mark.parametrize(("text", "said"), GRAPH, ids=[said for _, said in GRAPH])
def test_errors_of_autograd_are_told_in_plain_words(text, said):
    assert said in translate_error(parse_error({"type": "RuntimeError", "text": text, "line": 1, "statement": 0}))


AHEAD = [
    (
        "db += dY.sum(0)",
        {"db": 1},
        "it is what this line makes",
        "such as `db = torch.zeros_like(b)`; or is another name",
    ),
    ("db[ix] = dY.sum(0)", {"db": 1}, "it is what this line makes", "`db = torch.zeros_like(b)`"),
    ("for i in range(2):\n    db += dY[i]", {"db": 1}, "it is what this line makes", "`db = torch.zeros_like(b)`"),
    ("dT += dY", {"dT": 1}, "it is what this line makes", "`dT = torch.zeros_like(…)`"),
    ("r = 2 * db", {"db": 3}, "it is made in line 3, further down", "A line reads only what stands above it"),
    ("r = zeros(3)", {"zeros": 2}, "it is made in line 2, further down"),
]


@pytest.mark.parametrize("case", AHEAD, ids=[source for source, *_ in AHEAD])
def test_a_name_that_is_read_before_it_is_made_is_told_where_it_is_made(case):
    source, ahead, *parts = case

    message = translate_error(replace(failed(source), known=("b", "dY"), ahead=ahead))

    for part in parts:
        assert part in message


def test_a_line_that_reads_what_it_makes_is_no_unbegun_sum():
    error = replace(failed("db = db @ X"), known=("b",), ahead={"db": 1}, fresh=frozenset({"db"}))

    message = translate_error(error)

    assert "it is what this line makes. Is something else meant" in message
    assert "zeros_like" not in message


def test_a_transpose_of_three_axes_is_named_as_the_cause():
    operands = [{"source": "A.T", "shape": [4, 3, 2]}, {"source": "B", "shape": [2, 3, 5]}]
    text = "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 0"

    message = translate_error(parse_error({"type": "RuntimeError", "text": text, "operands": operands}))

    assert "`A.T` (4, 3, 2)" in message
    assert "`.T` reverses all axes" in message


def test_a_transpose_of_three_axes_is_no_cause_where_mt_would_not_fit():
    operands = [{"source": "A.T", "shape": [5, 4, 3]}, {"source": "B", "shape": [12, 5]}]
    text = "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 2"

    message = translate_error(parse_error({"type": "RuntimeError", "text": text, "operands": operands}))

    assert "`A.T` (5, 4, 3)" in message
    assert ".mT" not in message


def test_a_product_is_tried_only_where_its_inner_sizes_match():
    tried = []

    translate_error(replace(failed("r = X @ W"), mends=lambda _text, instead: bool(tried.append(instead))))

    assert {*tried} == {"(X).mT @ (W)", "(W).mT @ (X)"}


UNNAMED = [
    ("output with shape [27] doesn't match the broadcast shape [32, 27]", "The place on the left has shape (27,)"),
    (
        "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2]",
        "but the places that are written have shape (2,).",
    ),
    (
        "The expanded size of the tensor (4) must match (3). Target sizes: [2, 4].  Tensor sizes: [3]",
        "Shape (3,) does not spread over shape (2, 4): an axis",
    ),
    ("view size is not compatible with input tensor's size and stride", "The memory order does not allow `.view`"),
    ("shape '[32, 63]' is invalid for input of size 2048", "The tensor has 2,048 entries"),
    ("one_hot is only applicable to index tensor of type LongTensor", "needs integer indices (int64)."),
    (
        "result type Float can't be cast to the desired output type Long",
        "holds long numbers, and the result is float: it",
    ),
    (
        "index_add_(): Index is supposed to be a vector, but got dim: 2 with type",
        "`index_add_` takes one list of places, but its index has 2",
    ),
    ("index 27 is out of bounds for dimension 0 with size 27", "axis 0 has size 27"),
    ("Dimension out of range (expected to be in range of [-1, 0], but got 2)", "The tensor has no axis 2"),
    (
        "not enough values to unpack (expected 3, got 2)",
        "There are 3 names on the left of the `=`, and 2 values on the right.",
    ),
    (
        "not enough values to unpack (expected 2, got 1)",
        "There are 2 names on the left of the `=`, and 1 value on the right.",
    ),
    ("too many values to unpack (expected 1)", "There is 1 name on the left of the `=`, and more values on the right."),
    ("tuple index out of range", "An index in this line asks for more than the tuple holds"),
]


@pytest.mark.parametrize(("text", "said"), UNNAMED, ids=[said for _, said in UNNAMED])
def test_an_error_without_operands_is_told_without_them(text, said):
    assert said in translate_error(parse_error({"type": "RuntimeError", "text": text, "line": 1, "statement": 0}))


def failed(source):
    for node in ast.parse(source).body:
        scope = dict(SCOPE, b=SCOPE["b"].clone())
        scope.update(failed.left)
        try:
            exec(compile(ast.Module([node], []), FILE, "exec"), scope)
        except Exception as error:
            failed.left = {}
            return parse_error({"statement": 0, **describe_error(error, node)})
        failed.left = {"r": scope.get("r")}
    raise AssertionError("the case did not fail")


failed.left = {}


@pytest.mark.parametrize("case", CASES + CALLS, ids=lambda case: case[0])
def test_errors_name_the_operands(case):
    source, *parts = case

    message = translate_error(failed(source))

    for part in parts:
        assert part in message
    assert message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("r = X.copy()", "A tensor has no `.copy`. It is `X.clone()` here."),
        ("r = (X * 2).copy()", "A tensor has no `.copy`."),
        ("r = X.expand_dims(0)", "A tensor has no `.expand_dims`."),
        ("r = X.summe(0)", "A tensor has no `.summe`."),
    ],
)
def test_a_method_that_tensors_lack_is_named_and_one_that_is_meant(source, message):
    assert translate_error(failed(source)) == message


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case[0])
def test_a_wrong_call_is_told_in_a_line_without_signatures(case):
    message = translate_error(failed(case[0]))

    assert "argument" not in message
    assert "\n" not in message
    assert len(message) < 250
    assert "Error" not in message


CUT = [
    ('transpose() missing 2 required positional argument: "dim0", "dim1"', "`transpose` is given too little. It takes"),
    ("'Tensor' object is not callable", "This is a tensor and cannot be called"),
    ("'builtin_function_or_method' object is not subscriptable", "What stands before the bracket is a function"),
    ("unsupported operand type(s) for @: 'Tensor' and 'int'", "At `@`, the right side is a single number"),
    ("unsupported operand type(s) for +=: 'NoneType' and 'Tensor'", "At `+=`, the left side is `None`"),
]


@pytest.mark.parametrize("source", ["", "X.transpose(" + "0 + " * 20])
@pytest.mark.parametrize(("text", "said"), CUT, ids=[said for _, said in CUT])
def test_a_wrong_call_whose_source_is_not_known_is_told_without_it(text, said, source):
    assert said in translate_error(parse_error({"type": "TypeError", "text": text, "line": 1, "source": source}))


def test_an_exception_that_cannot_be_printed_is_still_told():
    class SilentError(Exception):
        def __str__(self):
            raise RuntimeError

    assert translate_error(parse_error({"type": "SilentError", "text": "", "line": 1, "statement": 0}))
    assert describe_error(SilentError(), ast.parse("x"))["text"] == ""


@pytest.mark.parametrize(
    "report", [{}, {"operands": "x"}, {"operands": [1, {}]}, {"line": "7", "text": 5, "type": None}]
)
def test_a_forged_report_is_read_without_harm(report):
    assert translate_error(parse_error(report))
