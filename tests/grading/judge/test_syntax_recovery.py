"""What is pasted along with code, or written as on paper, is told by its own sentence."""

import pytest

from app.grading.judge.syntax_recovery import blank_unparsable_lines

RIGHT = "dX = dY @ W.T"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f">>> {RIGHT}", "`>>>` is what Python shows before a line; delete it"),
        (f"... {RIGHT}", "`...` is what Python shows before a line; delete it"),
        ("```", "three such signs begin and end code in a text; delete this line"),
        ("```python", "three such signs begin and end code in a text; delete this line"),
        ("~~~", "three such signs begin and end code in a text; delete this line"),
        ("%matplotlib inline", "a line with `%` in front is for a notebook; delete it"),
        ("!pip list", "a line with `!` in front is for a notebook; delete it"),
        ("dy = (1 - y²) * g", "`²` is no power in Python; a power is written `**`, such as `y ** 2`"),
        ("dy = y⁻¹", "`⁻` is no power in Python; a power is written `**`, such as `y ** 2`"),
        ("dy = √y", "`√` is no sign of Python; a root is written `** 0.5`, or `torch.sqrt(x)`"),
        ("dW ← dX", "a name gets its value by a single `=`"),
        ("dW := dX", "a name gets its value by a single `=`"),
        ("dW = a && b", "Python writes `and` and `or`; between tensors `&` and `|`"),
        ("dW = ∂L", "`∂L` is written `dL` here"),
        ("∂X = 3 * dY", "`∂X` is written `dX` here"),
        ("dX = ∂L/∂y * 3", "`∂L/∂y` is written `dy` here"),
        ("dX = ∇y", "`∇y` is written `dy` here"),
        ("dX = x^T dY", "`x^T` is written `x.T` here, and a product of matrices with an `@`"),
        (r"dX = x^{\top} dY", r"`x^{\top}` is written `x.T` here, and a product of matrices with an `@`"),
        ("dX = x⊤ @ dY", "`x⊤` is written `x.T` here, and a product of matrices with an `@`"),
        (r"dX = \frac{\partial L}{\partial y}", r"`\frac{\partial L}{\partial y}` is written `dy` here"),
        (r"dX = 3 \cdot dY", r"`\cdot` between entries is written `*` here; a product of matrices is `@`"),
        ("dX = x ⊙ dY", "`⊙` between entries is written `*` here; a product of matrices is `@`"),
        ("db = Σ dY", "a sum over an axis is written behind the tensor, such as `x.sum(0)`"),
        ("dX = 3 dY", "in `3 dY` a sign is missing; a product is written with a `*`, one of matrices with an `@`"),
        (
            "dX 3 * dY",
            "in `dX 3` a sign is missing; an `=` gives a name its value, and a `*` or an `@` makes a product",
        ),
        (
            "dX dY.sum(1, keepdim=True)",
            "in `dX dY` a sign is missing; an `=` gives a name its value, and a `*` or an `@` makes a product",
        ),
        ("dX = 3x", "in `3x` a sign is missing; a product is written with a `*`, one of matrices with an `@`"),
        (
            "dX = (1 - y ** 2) dY",
            "in `) dY` a sign is missing; a product is written with a `*`, one of matrices with an `@`",
        ),
        (
            "dX = (1 - y ** 2)2",
            "in `)2` a sign is missing; a product is written with a `*`, one of matrices with an `@`",
        ),
        ("dX = dY x * 2", "in `dY x` a sign is missing; a product is written with a `*`, one of matrices with an `@`"),
        ("dX = x[0] dY", "in `] dY` a sign is missing; a product is written with a `*`, one of matrices with an `@`"),
        ("dW =", "nothing follows the `=`; write `____` to leave it blank for now"),
        ("dW +=", "nothing follows the `=`; write `____` to leave it blank for now"),
        ("dW = dY @", "nothing follows the `@`; write `____` to leave it blank for now"),
        ("Sure! Here's the gradient:", "it is a sentence; delete it, or put a `#` in front"),
        ("1. First compute the sum of X.", "it is a sentence; delete it, or put a `#` in front"),
        ("**Why:** we sum over the batch (see below).", "it is a sentence; delete it, or put a `#` in front"),
        ("dW = dX)", "the `)` closes nothing"),
        ("dW = dX.sum((0)]", "a `]` stands where a `(` is to be closed"),
        ("for i in range(3)", "its end lacks a colon, `:`"),
        ("dX @ W = dY", "in front of the `=` stands the name that gets the value, and nothing else"),
        ("d/dx = 3", "a gradient is written without a fraction; that of `x` is called `dx`"),
        ("dL / dW = X.T @ dY", "a gradient is written without a fraction; that of `W` is called `dW`"),
        ("let dX = 3 * dY", "a name is given its value without a word in front"),
        ("Tensor dX = dY", "a name is given its value without a word in front"),
        ("dX -> 3 * dY", "a name gets its value by a single `=`"),
        ("dX => dY", "a name gets its value by a single `=`"),
        ("dW = X' * dY", "a transpose is no dash but `.T`, and a matrix product is `@`"),
        ("dW = X.' * dY;", "a transpose is no dash but `.T`, and a matrix product is `@`"),
        ("dX = dY @ (W + W)'", "a transpose is no dash but `.T`, and a matrix product is `@`"),
        ("dX = dY @ W.", "behind the `.` a name is missing, such as `.T`"),
        ("dX = dY.@ W", "behind the `.` a name is missing, such as `.T`"),
        ("dX = 3.0 * dY.", "behind the `.` a name is missing, such as `.T`"),
        ("dX = 'dY", "a `'` or `\"` begins a text that does not end; a transpose is `.T`"),
        ("dX = dY * 1e-5 if", "invalid syntax"),
        ("dX = x not dY", "invalid syntax"),
        (
            "dX = dY.sum(axis of 1",
            "in `axis of` a sign is missing; a product is written with a `*`, one of matrices with an `@`",
        ),
        ('print "the shape", dX', "`print` is called with parentheses, `print(…)`"),
        ("dW = (dX", "the `(` is never closed"),
        ("dW = (dX  # √", "the `(` is never closed"),
    ],
)
def test_a_line_that_is_no_python_is_told_in_words(line: str, said: str) -> None:
    _, faults = blank_unparsable_lines(f"{RIGHT}\n{line}\ndb = dY.sum(0)")

    assert [one.message for one in faults] == [f"This line is not Python yet: {said}. It reads `{line}`."]
    assert [one.line for one in faults] == [2]


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        ("\tdX = dY", 1, "it begins further right than the line above; let both begin at the same place"),
        (f"{RIGHT}\n  db = dY", 2, "it begins further right than the line above; let both begin at the same place"),
        ("for i in range(2):\ndX = dY", 2, "what belongs to the `for` above begins four spaces further right"),
        ("for i in range(2):\n    dX = dY\n  db = dY", 3, "it begins at another place than the lines around it"),
    ],
)
def test_a_line_that_begins_at_the_wrong_place_is_told_so(code: str, line: int, said: str) -> None:
    _, faults = blank_unparsable_lines(f"{code}\ndc = dY")

    read = code.split("\n")[line - 1].strip()
    assert f"This line is not Python yet: {said}. It reads `{read}`." in [one.message for one in faults]


def test_such_signs_are_nobodys_business_where_they_do_no_harm() -> None:
    code = f"{RIGHT}  # y² → √x && >>>\nname = '∂'"

    assert blank_unparsable_lines(code) == (code, ())
