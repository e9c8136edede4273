"""Submissions without the lists, dictionaries and loops that hold their steps, so that each step is a line of its own.

`for t in reversed(range(3)): dhs[t] = das[t] @ Wh.T` is three lines, and `dh2 = dhs[2]` gives a name to one of them.
Loops of a known number of turns are unrolled, and what a list or a dictionary holds gets a variable (compilers call
it scalar replacement of aggregates). A text that does anything else with them is not unrolled.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from app.bindings import writes_of
from app.grading.judge.unrolling.evaluator import OPERATORS, TextEvaluator, word_of
from app.grading.judge.unrolling.values import (
    Held,
    Items,
    KeyedItems,
    Known,
    Made,
    UnknownError,
    Value,
    expression_of,
    renamed,
    sequence,
    stored,
)
from app.grading.judge.unrolling.variables import Variables
from app.syntax import every_name_in, nodes_in

STATEMENTS_MAX = 400
"""Of an unrolled text; each is a line that the jail runs."""
_FAILURES = (UnknownError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError)


class _BreakError(UnknownError):
    """`break`."""


class _ContinueError(UnknownError):
    """`continue`."""


@dataclass(frozen=True, slots=True)
class UnrolledLine:
    """One line of an unrolled text, with the line numbers of the one that it comes from.

    Args:
        turn: The turn of the innermost loop that it is of, from 1; 0 outside of loops.
        listed: By variable: the name that stands for it here, and the line of the list that it comes from.
    """

    node: ast.stmt
    turn: int
    listed: Mapping[str, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnrolledText:
    """An unrolled text.

    Args:
        shown: By variable that took no name of the learner's text: how that text calls it.
    """

    lines: tuple[UnrolledLine, ...]
    shown: Mapping[str, str]


def unroll(statements: Sequence[ast.stmt], sizes: Mapping[str, int], wanted: Collection[str]) -> UnrolledText | None:
    """*statements* unrolled; None where they have nothing to unroll, or more than is known from the text.

    Args:
        sizes: Dims that are the same in every run.
        wanted: Names that keep their names, whatever held them before.
    """
    unroller = _Unroller(statements, sizes, wanted)
    try:
        unroller.run(statements)
        if copies := unroller.variables.copies():
            unroller = _Unroller(statements, sizes, wanted, copies)
            unroller.run(statements)
    except _FAILURES:
        return None
    return unroller.result()


class _Unroller(TextEvaluator):
    """Runs the statements on what is known of them, and writes down those that are left.

    Args:
        copies: Names that stand for what another one does; a line of their own gives it to them.
    """

    def __init__(
        self,
        statements: Sequence[ast.stmt],
        sizes: Mapping[str, int],
        wanted: Collection[str],
        copies: Collection[str] = (),
    ) -> None:
        nodes = [node for statement in statements for node in nodes_in(statement)]
        super().__init__(sizes, writes_of(nodes))
        self.variables = Variables((node.id for node in nodes if isinstance(node, ast.Name)), wanted)
        self.copies = copies
        self.lines: list[UnrolledLine] = []
        self.turn = 0
        self.origin = statements[0] if statements else ast.Pass()
        """The statement that is being run."""

    # Statements.

    def run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.origin = statement
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Name() as value):
                # One name for another is a line of the text, and is kept as one.
                found = self.value(value)
                self._bind(target, Made(expression_of(found)) if isinstance(found, Held) else found)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.value(value))
            case ast.Assign(targets=targets, value=value):
                held = self.hold(self.value(value), "value", "value")
                for target in targets:
                    self._bind(target, held)
            case ast.AugAssign():
                self._update(node)
            case ast.For(target=target, iter=met, body=body, orelse=[]):
                self._loop(node, target, met, body)
            case ast.If(test=test, body=body, orelse=orelse):
                known = self.value(test)
                if isinstance(known, Known):
                    self.run(body if known.value else orelse)
                else:
                    self._keep(node)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                done = self.value(value)
                if isinstance(done, Made):
                    self._emit(ast.Expr(done.expression))
            case ast.Break():
                raise _BreakError
            case ast.Continue():
                raise _ContinueError
            case _:
                self._keep(node)

    def _loop(self, node: ast.For, target: ast.expr, met: ast.expr, body: Sequence[ast.stmt]) -> None:
        before = len(self.lines)
        try:
            items = sequence(self.value(met))
        except UnknownError:
            if len(self.lines) != before:
                raise
            self._keep(node)
            return
        self.unrolls, outer = True, self.turn
        for turn, item in enumerate(items, 1):
            self.turn, self.origin = turn, node
            self.meet(target, item)
            try:
                self.run(body)
            except _ContinueError:
                continue
            except _BreakError:
                break
        self.turn = outer

    def _update(self, node: ast.AugAssign) -> None:
        value, old = self.value(node.value), self.value(node.target)
        match old:
            case Items(values=values) if isinstance(node.op, ast.Add):
                shown = ast.unparse(node.target)
                values += [self.hold(each, word_of(shown), shown) for each in sequence(value)]
                return
            case Known(value=before, variable="") if isinstance(node.target, ast.Name) and isinstance(value, Known):
                self.scope[node.target.id] = Known(OPERATORS[type(node.op)](before, value.value))
                return
            case Known():
                shown = ast.unparse(node.target)
                old = self.hold(Made(expression_of(old)), word_of(shown), shown)
                self._bind(node.target, old)
        place = expression_of(old)
        if not isinstance(place, ast.Name | ast.Subscript):
            raise UnknownError
        place.ctx = ast.Store()
        self._emit(ast.AugAssign(place, node.op, expression_of(value)))

    def _keep(self, node: ast.stmt) -> None:
        """Leave a statement as it is, such as a loop over a size: its names are what holds them now."""
        nodes = nodes_in(node)
        if isinstance(node, ast.FunctionDef):
            own = {each.arg for each in nodes if isinstance(each, ast.arg)} | writes_of(nodes)
            if {each.id for each in nodes if isinstance(each, ast.Name)} & set(self.written) - own:
                raise UnknownError  # what it reads when it is called may have another name then
            self._emit(deepcopy(node))
            return
        variables: dict[str, str] = {}
        for name in writes_of(nodes) & set(self.written):
            match self.scope.get(name):
                case Held(variable=variable):
                    variables[name] = variable
                case None:
                    variables[name] = self.variables.new(name, name, self.turn)
                case Known(value=int() | float()) as known:
                    variables[name] = self._held(Made(expression_of(known)), name, name).variable
                case _:
                    raise UnknownError
        self._emit(renamed(node, self.scope, variables))
        self.scope |= {name: Held(variable) for name, variable in variables.items()}

    def _emit(self, statement: ast.stmt) -> None:
        if len(self.lines) >= STATEMENTS_MAX:
            raise UnknownError
        names, listed = every_name_in(self.origin), dict[str, tuple[str, int]]()
        for name in sorted(names):
            held = self.scope.get(name)
            if isinstance(held, Held) and held.line and held.variable not in names:
                listed[held.variable] = name, held.line
        self.lines.append(UnrolledLine(ast.copy_location(statement, self.origin), self.turn, listed))

    # Names.

    def _bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.scope[name] = self._bound(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if isinstance(value, Items):
                for part, item in zip(parts, [*value.values], strict=True):
                    self._bind(part, item)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                names = [part.id for part in parts if isinstance(part, ast.Name)]
                if len(names) < len(parts):
                    raise UnknownError
                variables = [self.variables.new(name, name, self.turn) for name in names]
                self._emit(ast.Assign([ast.Tuple([*map(stored, variables)], ast.Store())], expression_of(value)))
                self.scope |= {name: Held(variable) for name, variable in zip(names, variables, strict=True)}
            case ast.Subscript(value=owner, slice=index):
                self._put(self.value(owner), ast.unparse(owner), index, value)
            case _:
                raise UnknownError

    def _bound(self, name: str, value: Value) -> Value:
        match value:
            case Items(values=values):
                values[:] = [self.hold(item, name, f"{name}[{at}]") for at, item in enumerate(values)]
                return value
            case KeyedItems(values=table):
                table |= {key: self.hold(item, name, f"{name}[{key!r}]") for key, item in table.items()}
                return value
            case Known(value=int() | float() as number):
                return Known(number, self._held(Made(ast.Constant(number)), name, name).variable)
            case Held(variable=variable) if name in self.variables.wanted:
                self.variables.claim(variable, name)
                if name in self.scope or name in self.copies or variable not in self.variables.made:
                    return self.hold(Made(expression_of(value)), name, name)
            case Made(expression=ast.Name(id=variable)) if name in self.variables.wanted:
                held = self._held(value, name, name)
                # Whatever reads it from here on reads the gradient that has a name now.
                self.scope = {each: held if known == Held(variable) else known for each, known in self.scope.items()}
                return held
        return self.hold(value, name, name)

    def _put(self, whole: Value, owner: str, index: ast.expr, value: Value) -> None:
        """`owner[index] = value`."""
        if not isinstance(whole, Items | KeyedItems):
            target = ast.Subscript(expression_of(whole), self.expression(index), ast.Store())
            self._emit(ast.Assign([target], expression_of(value)))
            return
        key = self.known(index)
        if isinstance(whole, Items) and not isinstance(key, int):
            raise UnknownError
        self.unrolls = True
        if isinstance(value, Held) and value.variable[:1] == "d" and value.variable not in self.variables.made:
            value = Made(expression_of(value))  # the upstream gradient passed on
        held = self.hold(value, word_of(owner), f"{owner}[{key!r}]")
        match whole:
            case Items(values=values):
                values[key] = held
            case KeyedItems(values=table):
                table[key] = held

    def meet(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.scope[name] = self.hold(value, name, name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part, each in zip(parts, sequence(value), strict=True):
                    self.meet(part, each)
            case _:
                raise UnknownError

    def hold(self, value: Value, name: str, shown: str) -> Value:
        return self._held(value, name, shown) if isinstance(value, Made) else value

    def _held(self, made: Made, name: str, shown: str) -> Held:
        outer, self.turn = self.turn, self.turn or made.turn
        variable = self.variables.new(name, shown, self.turn)
        self._emit(ast.Assign([stored(variable)], made.expression))
        self.turn = outer
        return Held(variable)

    # The result.

    def result(self) -> UnrolledText | None:
        """The unrolled text; None where no gradient that is wanted gets a line of its own by it."""
        held = {name: each.variable for name, each in self.scope.items() if isinstance(each, Held | Known)}
        names = self.variables.names(held, [line.node for line in self.lines])
        without_loops = self.unrolls and not any(line.turn for line in self.lines)
        if not (without_loops or self.variables.sets_apart(names)):
            return None
        for line in self.lines:
            for node in nodes_in(line.node):
                if isinstance(node, ast.Name):
                    node.id = names.get(node.id, node.id)
        shown = {text: variable.shown for text, variable in self.variables.made.items() if text not in names}
        return UnrolledText(tuple(self.lines), shown)
