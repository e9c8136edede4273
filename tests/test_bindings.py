"""The text of a statement as it is told: in the numbers that people write."""

import ast

import pytest

from app.bindings import as_written


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
