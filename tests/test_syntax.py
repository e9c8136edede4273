"""Vocabulary over syntax: plain questions of a node."""

import pytest

from app.syntax import (
    Node,
    name_node,
    name_of,
    names_in_order,
    parse_expression,
    part_of,
    rewritten,
    sides_of,
    sign_of,
    source_text,
    statements_of,
    syntax_key,
    terms_of,
    value_left_by,
)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("x = y @ w", "y @ w"),
        ("x += y", "x + y"),
        ("x @= y", "x @ y"),
        ("x[0] = y", ""),
        ("x, z = y", ""),
        ("f(x)", ""),
    ],
)
def test_a_statement_tells_the_value_that_it_leaves_in_one_name(source: str, left: str) -> None:
    value = value_left_by(statements_of(source)[0])

    assert (source_text(value) if value else "") == left


@pytest.mark.parametrize(
    ("text", "sign", "sides"),
    [
        ("x @ w", "@", ["x", "w"]),
        ("x ** 2", "**", ["x", "2"]),
        ("-x", "-", []),
        ("x > 0", "", ["x", "0"]),
        ("0 < x < 1", "", []),
        ("f(x, y)", "", []),
    ],
)
def test_an_operation_has_a_sign_and_two_sides(text: str, sign: str, sides: list[str]) -> None:
    node = parse_expression(text)

    assert (sign_of(node), [*map(source_text, sides_of(node) or ())]) == (sign, sides)


def test_terms_are_what_is_added_and_subtracted_outside_of_brackets() -> None:
    assert [source_text(term) for term in terms_of(parse_expression("a * b + c - (d + e)"))] == ["a * b", "c", "d + e"]


def test_names_come_in_the_order_of_the_text_each_time() -> None:
    assert names_in_order(parse_expression("f(b, a[b]) + c")) == ["f", "b", "a", "b", "c"]


def test_a_rewritten_tree_is_a_copy_and_what_is_put_in_stays() -> None:
    (line,) = statements_of("y = x + x")
    before = syntax_key(line)

    def picked(node: Node) -> Node:
        return part_of(name_node("x"), 0) if name_of(node) == "x" else node

    assert source_text(rewritten(line, picked)) == "y = x[0] + x[0]"
    assert syntax_key(line) == before
