"""Values of the names of a submission, as far as its text tells, and how an unrolled text writes it."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.syntax import name_node, rewritten

LONGEST = 400
"""Items of a list, and turns of a loop."""


class UnknownError(Exception):
    """The content of a list, or how often a loop is run, is not known from the text."""


@dataclass(frozen=True, slots=True)
class Held:
    """The value of a variable of the unrolled text, or one of the names that are given.

    Args:
        line: That of the list or dictionary that it is written in; 0 where it is in none.
    """

    variable: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Known:
    """A number, a text or None; in a *variable* where a line of the unrolled text gives it to one."""

    value: object
    variable: str = ""


@dataclass(eq=False, slots=True)
class Items:
    """A list or a tuple; two names may stand for the same one."""

    values: list["Value"]
    is_tuple: bool = False


@dataclass(eq=False, slots=True)
class KeyedItems:
    """A dictionary."""

    values: dict[object, "Value"]


@dataclass(frozen=True, slots=True)
class Made:
    """An expression that no variable holds yet; *turn* is that of the comprehension that makes it."""

    expression: ast.expr
    turn: int = 0


Value = Held | Known | Items | KeyedItems | Made


def loaded(variable: str) -> ast.expr:
    return name_node(variable)


def stored(variable: str) -> ast.expr:
    return ast.Name(variable, ast.Store())


def expression_of(value: Value) -> ast.expr:
    """*value* as the unrolled text writes it."""
    match value:
        case Held(variable=variable):
            return loaded(variable)
        case Known(value=known, variable=variable):
            if variable:
                return loaded(variable)
            assert isinstance(known, int | float | complex | str | bytes | None | type(...))
            return ast.Constant(known)
        case Items(values=values, is_tuple=is_tuple):
            return (ast.Tuple if is_tuple else ast.List)([expression_of(each) for each in values], ast.Load())
        case KeyedItems(values=table):
            keys = [expression_of(Known(key)) for key in table]
            return ast.Dict(list[ast.expr | None](keys), [expression_of(each) for each in table.values()])
        case Made(expression=expression):
            return expression


def renamed(statement: ast.stmt, scope: Mapping[str, Value], variables: Mapping[str, str]) -> ast.stmt:
    """A copy of a *statement* that stays as it is, with *variables* for its names, or what is known of them in *scope*.

    Raises:
        UnknownError: It reads a list or a dictionary, or has a function of its own.
    """

    def change(node: ast.AST) -> ast.AST:
        match node:
            case ast.Lambda():
                raise UnknownError
            case ast.Name(id=name) if name in variables:
                return ast.Name(variables[name], node.ctx)
            case ast.Name(id=name):
                known = scope.get(name, Held(name))
                if isinstance(known, Items | KeyedItems):
                    raise UnknownError
                return expression_of(known)
        return node

    return rewritten(statement, change)


def is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None


def constant(value: Value) -> Any:
    """The number or text that *value* is.

    Raises:
        UnknownError: It is none.
    """
    if not isinstance(value, Known):
        raise UnknownError
    return value.value


def known_of(value: Value, sizes: Mapping[str, int]) -> Any:
    """The number or text that *value* is, also as one of *sizes*, which are the same in every run.

    Raises:
        UnknownError: It is none.
    """
    match value:
        case Held(variable=name) if name in sizes:
            return sizes[name]
        case Items(values=values):
            return tuple(constant(each) for each in values)
    return constant(value)


def sequence(value: Value) -> list[Value]:
    """The items that a loop over *value* meets.

    Raises:
        UnknownError: That is not known from the text.
    """
    match value:
        case Items(values=values):
            return [*values]
        case KeyedItems(values=values):
            return [Known(key) for key in values]
        case Known(value=str(text)):
            return [Known(letter) for letter in text[:LONGEST]]
    raise UnknownError
