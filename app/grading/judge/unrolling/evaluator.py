"""Evaluates what is known of a submission from its text: numbers, lists, dictionaries and what runs over them."""

import ast
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.grading.judge.unrolling.python_functions import FUNCTIONS, result_of
from app.grading.judge.unrolling.values import (
    LONGEST,
    Held,
    Items,
    KeyedItems,
    Known,
    Made,
    UnknownError,
    Value,
    constant,
    expression_of,
    is_none,
    known_of,
    sequence,
)
from app.syntax import name_node

STEPS_MAX = 20_000
"""Expressions that are evaluated, those of a loop once for each turn."""
OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class TextEvaluator(ABC):
    """A scope of values.

    Args:
        sizes: Dims that are the same in every run.
        written: Names that the text gives a value to.
    """

    def __init__(self, sizes: Mapping[str, int], written: Collection[str]) -> None:
        self.sizes = sizes
        self.written = written
        self.scope: dict[str, Value] = {}
        self.unrolls = False
        """Whether a list, a dictionary or a loop was taken apart."""
        self._left = STEPS_MAX

    @abstractmethod
    def hold(self, value: Value, name: str, shown: str) -> Value:
        """*value* in a variable made for *name*, if it is an expression that none holds yet."""

    @abstractmethod
    def meet(self, target: ast.expr, value: Value) -> None:
        """Let the target of a loop stand for *value*, without a line that says so."""

    def value(self, node: ast.expr) -> Value:
        """The value of *node*; an expression, with the values of its parts in their places, where that is all.

        Raises:
            UnknownError: It changes something, or picks from a list what is not known.
        """
        self._left -= 1
        if self._left < 0:
            raise UnknownError
        match node:
            case ast.Constant(value=known):
                return Known(known)
            case ast.Name(id=name):
                return self.scope.get(name, Held(name))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return Items([item for part in parts for item in self._spread(part)], isinstance(node, ast.Tuple))
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return KeyedItems({self._key(key): self._part_of(each) for key, each in pairs})
            case ast.ListComp(elt=element, generators=rows) | ast.GeneratorExp(elt=element, generators=rows):
                return Items([item for (item,) in self._comprehended([element], rows)])
            case ast.DictComp(key=key, value=element, generators=rows):
                return KeyedItems({constant(name): item for name, item in self._comprehended([key, element], rows)})
            case ast.Subscript(value=owner, slice=index):
                return self._picked(self.value(owner), index)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(self.value(left), op, self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.value(operand)
                return self._operated(op, inner) or Made(ast.UnaryOp(op, expression_of(inner)))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(self.value(left), op, self.value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                tested = self.value(test)
                if isinstance(tested, Known):
                    return self.value(body if tested.value else orelse)
                return Made(ast.IfExp(expression_of(tested), self.expression(body), self.expression(orelse)))
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS and name not in self.written:
                return self._called(name, node)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                whole = self.value(owner)
                if isinstance(whole, Items | KeyedItems) and not node.keywords:
                    self.unrolls = True
                    return self._method(whole, method, node.args, owner)
                function = ast.Attribute(expression_of(whole), method, ast.Load())
                return Made(ast.Call(function, self._part(node.args), self._part(node.keywords)))
            case ast.Lambda() | ast.NamedExpr() | ast.SetComp():
                raise UnknownError
        return Made(self._rebuilt(node))

    def expression(self, node: ast.expr) -> ast.expr:
        """*node* with what is known of its parts in their places."""
        match node:
            case ast.Slice():
                return self._rebuilt(node)
            case ast.Tuple(elts=parts) if any(isinstance(part, ast.Slice) for part in parts):
                return ast.Tuple([self.expression(part) for part in parts], ast.Load())
        return expression_of(self.value(node))

    def _rebuilt(self, node: ast.expr) -> ast.expr:
        parts = {name: self._part(part) for name, part in ast.iter_fields(node)}
        return type(node)(**parts)

    def _part(self, part: Any) -> Any:
        match part:
            case list():
                return [self._part(each) for each in part]
            case ast.keyword(arg=arg, value=value):
                return ast.keyword(arg, self.expression(value))
            case ast.Starred(value=value):
                return ast.Starred(self.expression(value), ast.Load())
            case ast.expr():
                return self.expression(part)
        return part

    def known(self, node: ast.expr) -> Any:
        """The number or text that *node* is, also as a size that is the same in every run.

        Raises:
            UnknownError: It is none.
        """
        return known_of(self.value(node), self.sizes)

    def _spread(self, part: ast.expr) -> Sequence[Value]:
        return sequence(self.value(part.value)) if isinstance(part, ast.Starred) else [self._part_of(part)]

    def _part_of(self, part: ast.expr) -> Value:
        """The value of a part of a list that is written out."""
        value = self.value(part)
        return replace(value, line=part.lineno) if isinstance(value, Held) else value

    def _key(self, node: ast.expr | None) -> object:
        if node is None:
            raise UnknownError
        return self.known(node)

    def _comprehended(self, parts: Sequence[ast.expr], rows: Sequence[ast.comprehension]) -> list[list[Value]]:
        outer, self.unrolls = dict(self.scope), True
        try:
            return [[_of_turn(self.value(part), turn) for part in parts] for turn, _ in enumerate(self._turns(rows), 1)]
        finally:
            self.scope = outer

    def _turns(self, rows: Sequence[ast.comprehension]) -> Iterator[None]:
        if not rows:
            yield
            return
        first, *others = rows
        for item in sequence(self.value(first.iter)):
            if isinstance(item, Made):
                raise UnknownError
            self.meet(first.target, item)
            if all(self.known(test) for test in first.ifs):
                yield from self._turns(others)

    def _picked(self, owner: Value, index: ast.expr) -> Value:
        match owner, index:
            case Items(values=values), ast.Slice(lower=lower, upper=upper, step=step):
                self.unrolls = True
                return Items(
                    values[slice(*(None if part is None else self.known(part) for part in (lower, upper, step)))]
                )
            case ((Items(values=values) | KeyedItems(values=values)), _):
                self.unrolls = True
                picked: Value = values[self.known(index)]
                return picked
        return Made(ast.Subscript(expression_of(owner), self.expression(index), ast.Load()))

    @staticmethod
    def _operated(op: ast.AST, *operands: Value) -> Value | None:
        """The value that an operator makes of numbers, none of which a line gives to a variable; None elsewhere."""
        values = [each.value for each in operands if isinstance(each, Known) and not each.variable]
        if len(values) < len(operands) or type(op) not in OPERATORS or not all(map(_is_plain, values)):
            return None
        return Known(OPERATORS[type(op)](*values))

    def _binary(self, first: Value, op: ast.operator, other: Value) -> Value:
        match first, other:
            case Items(values=a), Items(values=b) if isinstance(op, ast.Add):
                return Items([*a, *b])
            case Items(values=a), (Known() | Held()) if isinstance(op, ast.Mult):
                count = known_of(other, self.sizes)
                if any(isinstance(each, Made | Items | KeyedItems) for each in a) or not 0 <= len(a) * count <= LONGEST:
                    raise UnknownError
                return Items(a * count)
            case Known(value=str(a)), Known(value=str(b)) if isinstance(op, ast.Add):
                return Known(a + b)
        return self._operated(op, first, other) or Made(ast.BinOp(expression_of(first), op, expression_of(other)))

    def _compared(self, first: Value, op: ast.cmpop, other: Value) -> Value:
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(first, Held | Items | KeyedItems) and is_none(other):
            return Known(isinstance(op, ast.IsNot))
        if isinstance(first, Known) and isinstance(other, Known) and type(op) in OPERATORS:
            return Known(OPERATORS[type(op)](first.value, other.value))
        return Made(ast.Compare(expression_of(first), [op], [expression_of(other)]))

    def _joined(self, parts: Sequence[ast.expr]) -> Value:
        texts = list[str]()
        for part in parts:
            match part:
                case ast.Constant(value=str(text)):
                    texts.append(text)
                case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                    texts.append(str(self.known(inner)))
                case _:
                    raise UnknownError
        return Known("".join(texts))

    def _called(self, name: str, node: ast.Call) -> Value:
        """The value of a function of Python, where what it is called with is known; else the call."""
        values = [value for argument in node.args for value in self._spread(argument)]
        options = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        try:
            return result_of(name, values, options, self.sizes)
        except UnknownError:
            if any(isinstance(value, Items | KeyedItems) for value in (*values, *options.values())):
                raise
        keywords = [ast.keyword(word, expression_of(value)) for word, value in options.items()]
        return Made(ast.Call(name_node(name), [*map(expression_of, values)], keywords))

    def _method(self, whole: Items | KeyedItems, method: str, arguments: Sequence[ast.expr], owner: ast.expr) -> Value:
        shown = ast.unparse(owner)
        match whole, method, arguments:
            case Items(values=values), "append", [item]:
                values.append(self.hold(self.value(item), word_of(shown), f"{shown}[{len(values)}]"))
                return Known(None)
            case Items(values=values), "insert", [at, item]:
                values.insert(self.known(at), self.hold(self.value(item), word_of(shown), shown))
                return Known(None)
            case Items(values=values), "extend", [more]:
                values += [self.hold(each, word_of(shown), shown) for each in sequence(self.value(more))]
                return Known(None)
            case Items(values=values), "reverse", []:
                values.reverse()
                return Known(None)
            case Items(values=values), "pop", _:
                return values.pop(*map(self.known, arguments))
            case Items(values=values), "copy", []:
                return Items([*values])
            case KeyedItems(values=table), "items", []:
                return Items([Items([Known(key), each]) for key, each in table.items()])
            case KeyedItems(values=table), "keys", []:
                return Items([Known(key) for key in table])
            case KeyedItems(values=table), "values", []:
                return Items([*table.values()])
            case KeyedItems(values=table), "get", [key, *default]:
                name = self.known(key)
                return table[name] if name in table else self.value(default[0]) if default else Known(None)
        raise UnknownError


def word_of(text: str) -> str:
    """*text* as the beginning of a name."""
    return re.sub(r"\W+", "_", text).strip("_")


def _of_turn(value: Value, turn: int) -> Value:
    return Made(value.expression, turn) if isinstance(value, Made) else value


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < 2**53
