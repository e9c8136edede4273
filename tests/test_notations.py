"""What numpy, micrograd and paper write, in the words of a box."""

import pytest

from app import notations


@pytest.mark.parametrize(
    ("numpy", "torch"),
    [
        ("np.dot(x.T, dlogits)", "x.T @ dlogits"),
        ("np.dot(a + b, c)", "(a + b) @ c"),
        ("numpy.matmul(A, B)", "A @ B"),
        ("np.sum(dY * A, axis=1, keepdims=True)", "torch.sum(dY * A, dim=1, keepdim=True)"),
        ("np.exp(x)", "torch.exp(x)"),
        ("np.var(x, axis=0, ddof=1)", "torch.var(x, correction=1, dim=0)"),
        ("np.std(x, 0)", "torch.std(x, 0, correction=0)"),
        ("np.add.at(dC, ix, de)", "dC.index_add_(0, ix, de)"),
        ("np.concatenate([a, b])", "torch.cat([a, b])"),
        ("np.transpose(x)", "x.T"),
        ("np.power(x, 2)", "x ** 2"),
        ("np.newaxis", "None"),
        ("np.dot", ""),
        ("np.dot(a, b, c)", ""),
        ("torch.dot(a, b)", ""),
        ("np.(", ""),
    ],
)
def test_a_call_of_numpy_is_written_as_torch_writes_it(numpy, torch):
    assert notations.as_torch(numpy) == torch


@pytest.mark.parametrize(
    ("name", "meant"), [("xT", "x"), ("WT", "W"), ("W_T", "W"), ("x_t", "x"), ("yT", ""), ("T", "")]
)
def test_a_name_with_a_t_is_a_transpose_where_the_rest_is_a_tensor(name, meant):
    assert notations.transposed_name(name, ("x", "W")) == meant


@pytest.mark.parametrize(
    ("text", "number"), [("three", "3"), (" Minus  one ", "-1"), ("half", "1/2"), ("tree", "tree")]
)
def test_a_number_in_words_is_read(text, number):
    assert notations.plain_number(text) == number


@pytest.mark.parametrize(("text", "number"), [(".3 units", ".3"), ("12 entries", "12"), ("(2) rows", "(2)")])
def test_what_is_counted_is_left_out(text, number):
    assert notations.plain_number(text) == number
    assert notations.plain_number("3 apples") == "3 apples"
