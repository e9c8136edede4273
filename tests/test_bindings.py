"""The text of a statement as it is told: in the numbers that people write."""

import ast

import pytest

from app.bindings import bound_anew
from app.syntax import as_written


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("y = x ** -2", "y = x ** -2"),
        ("y = (v + 1e-5) ** -0.5", "y = (v + 1e-5) ** -0.5"),
        ("y = x**(-2) **2", "y = x ** (-2) ** 2"),
        ("y = x ** (-n)", "y = x ** (-n)"),
        ("y = 1e-12 * x", "y = 1e-12 * x"),
        ("for i in a:\n    b += i", "for i in a: b += i"),
    ],
)
def test_a_statement_is_told_on_one_line_in_plain_numbers(source: str, written: str) -> None:
    assert as_written(ast.parse(source)) == written
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(source))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("d = d @ w", {"d"}),
        ("d = 2 * d + y", {"d"}),
        ("d = y + d - z", set()),
        ("d = d", {"d"}),
        ("d += y", set()),
        ("d[0] = y", set()),
        ("d, e = y", {"d", "e"}),
    ],
)
def test_a_name_is_bound_anew_where_nothing_is_added_to_it(source: str, names: set[str]) -> None:
    assert bound_anew(ast.parse(source).body[0]) == names
