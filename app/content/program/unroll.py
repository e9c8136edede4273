"""An author's program as a straight line: loops turn by turn, helper functions in place, branches on sizes decided.

Nothing is run. Sizes and loop variables are known while the text is read; tensors are names. What depends on the
entries of a tensor cannot be known here, and is told at its place.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from app.content.program.inlining import Inliner, Scope, TensorList
from app.content.program.static_values import NotStaticError, StaticValues
from app.content.program.straight_line_checks import OTHERS, holds_parts, needs_unrolling, stored_names, without_writing
from app.syntax import name_node

MOST_STATEMENTS = 500
MAX_CALL_DEPTH = 8
Tell = Callable[[ast.AST, str, str, str], None]


class UnrollError(Exception):
    """A fault was told; the rest of the program cannot be read."""


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A straight line.

    Args:
        source: One assignment a line.
        lines: For each of its lines the one of the author's text that it comes from, both from 1.
        fixed: Dims that a loop or a branch asked for; their sizes make the program what it is.
    """

    source: str
    lines: tuple[int, ...]
    fixed: frozenset[str]

    def below(self, above: Sequence[tuple[str, int]]) -> "Unrolled":
        """The same with assignments *above* it, each with its line."""
        lines = self.lines or tuple(range(1, self.source.count("\n") + 1))
        source = "".join(f"{text}\n" for text, _ in above) + self.source
        return Unrolled(source, (*(line for _, line in above), *lines), self.fixed)


def unroll_program(
    tree: ast.Module, dims: Mapping[str, int], inputs: Collection[str], outputs: Sequence[str], tell: Tell
) -> Unrolled | None:
    """*tree* as a straight line; None where it is one already.

    Args:
        tell: Is told of a fault: where, its code, what was seen, what to write instead.

    Raises:
        StoppedError: *tell* was told why it cannot be made one.
    """
    if not needs_unrolling(tree, outputs):
        return None
    work = _Work(tree, dims, inputs, tell)
    work.block(tree.body, work.top, "")
    work.end(outputs)
    source = "".join(f"{ast.unparse(ast.fix_missing_locations(assignment))}\n" for assignment, _ in work.lines)
    return Unrolled(source, tuple(line for _, line in work.lines), frozenset(work.known.asked))


class _Work:
    """The straight line as it grows.

    Args:
        top: What the names of the program stand for, as far as it is read.
    """

    def __init__(self, tree: ast.Module, dims: Mapping[str, int], inputs: Collection[str], tell: Tell) -> None:
        self.tree, self.inputs, self.tell = tree, frozenset(inputs), tell
        self.known = StaticValues(dims)
        self.taken = {*stored_names(tree), *inputs, *dims}
        inner = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.If)]
        self.rebound = {name for node in inner for name in stored_names(node)}
        self.top: Scope = {}
        self.lines: list[tuple[ast.Assign, int]] = []
        self.turns = self.depth = 0
        self.line = 1

    def stop(self, node: ast.AST, code: str, message: str, fix: str = "") -> UnrollError:
        self.tell(node, code, message, fix)
        return UnrollError()

    # Statements.

    def block(self, statements: Sequence[ast.stmt], scope: Scope, suffix: str) -> None:
        for statement in statements:
            self.line = statement.lineno
            self._statement(statement, scope, suffix)

    def _statement(self, node: ast.stmt, scope: Scope, suffix: str) -> None:
        inner = bool(suffix or self.depth)
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.FunctionDef():
                self._define(node, scope)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments, body=body) as value):
                returned = ast.copy_location(ast.Return(body), value)
                self._define(ast.copy_location(ast.FunctionDef(name, arguments, [returned], []), node), scope)
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute(), *_]) | ast.AugAssign(target=ast.Subscript()):
                raise self.stop(node, "in-place", "This changes a part of a tensor in place.", without_writing(node))
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value, scope, suffix)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                if not inner or (name in self.inputs and name not in scope):
                    fix = f"Write it as an assignment to a new name, such as '{name}2 = {name} + …'."
                    raise self.stop(node, "in-place", f"This changes {name!r} in place.", fix)
                total = ast.copy_location(ast.BinOp(name_node(name), op, value), node)
                self._assign(target, total, scope, suffix)
            case ast.For(orelse=[]):
                self._loop(node, scope, suffix)
            case ast.If():
                self.block(node.body if self._evaluate_test(node.test, scope, suffix) else node.orelse, scope, suffix)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])):
                listed = scope.get(name)
                if not isinstance(listed, TensorList):
                    raise self.stop(node, "not-straight-line", f"{name!r} is no list.", f"Begin with '{name} = []'.")
                listed.elts.append(self.named(name, self.read(item, scope, suffix), suffix))
            case _:
                usual = "A forward program is made of assignments such as 'Y = X @ W', of loops and of functions."
                message, fix = OTHERS.get(type(node), (usual, "Write this step as an assignment to a new name."))
                raise self.stop(node, "not-straight-line", message, fix)

    def _define(self, node: ast.FunctionDef, scope: Scope) -> None:
        parameters = node.args
        if (
            self.depth
            or node.decorator_list
            or parameters.vararg
            or parameters.kwarg
            or parameters.kwonlyargs
            or parameters.posonlyargs
        ):
            fix = "Write 'def cell(x, h):' outside of others, without stars and decorators."
            raise self.stop(node, "not-straight-line", f"The function {node.name!r} is not a plain one.", fix)
        *_, last = node.body
        early = [inner for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner is not last]
        if early or not isinstance(last, ast.Return) or last.value is None:
            message = f"The function {node.name!r} has to return its result in its last line, and nowhere else."
            raise self.stop(early[0] if early else last, "not-straight-line", message)
        scope[node.name] = node

    def _loop(self, node: ast.For, scope: Scope, suffix: str) -> None:
        for mark, item in self.turned(node, node.iter, scope, suffix):
            self.bind(node.target, item, scope)
            self.block(node.body, scope, f"{suffix}_{mark}")

    def turned(self, node: ast.AST, over: ast.expr, scope: Scope, suffix: str) -> Iterator[tuple[int, ast.expr]]:
        """The turns of a loop: a number that tells each from the others, and what it is bound to."""
        try:
            nodes = self.known.items(self.read(over, scope, suffix))
        except NotStaticError as error:
            fix = "Write 'for t in range(T):', and pick what belongs to the turn, such as 'X[:, t]'."
            raise self.stop(node, "depends-on-data", f"How often this turns is not known: {error}.", fix) from None
        for index, item in enumerate(nodes):
            self.turns += 1
            if self.turns > MOST_STATEMENTS:
                raise self.stop(node, "too-long", f"The loops of this program turn more than {MOST_STATEMENTS} times.")
            number = item.value if isinstance(item, ast.Constant) else index
            yield number if isinstance(number, int) and number >= 0 else index, item

    def bind(self, target: ast.expr, item: ast.expr, scope: Scope) -> None:
        """Let the loop variables *target* be *item*."""
        match target, item:
            case ast.Name(id=name), _:
                scope[name] = item
            case ast.Tuple(elts=names), ast.Tuple(elts=parts) if len(names) == len(parts):
                for node, part in zip(names, parts, strict=True):
                    self.bind(node, part, scope)
            case _:
                raise self.stop(
                    target, "not-straight-line", f"'{ast.unparse(target)}' does not fit what it turns over."
                )

    def _evaluate_test(self, test: ast.expr, scope: Scope, suffix: str) -> bool:
        try:
            return self.known.decided(self.read(test, scope, suffix))
        except NotStaticError as error:
            fix = "A branch may ask for sizes. To choose entry by entry, write 'torch.where(mask, a, b)'."
            raise self.stop(test, "depends-on-data", f"Which way this goes is not known: {error}.", fix) from None

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope, suffix: str) -> None:
        elts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        names = [elt.id for elt in elts if isinstance(elt, ast.Name)]
        if len(names) != len(elts):
            raise self.stop(target, "not-straight-line", "An assignment writes plain names, each of them once.")
        before = len(self.lines)
        parts = isinstance(target, ast.Name) and holds_parts(ast.Assign([target], value), self.tree)
        if isinstance(value, ast.ListComp):
            read = Inliner(self, scope, suffix).listed(deepcopy(value), apart=True)
        else:
            read = self.read(value, scope, suffix)
        inner = bool(suffix or self.depth)
        match read:
            case ast.List(elts=items) if isinstance(target, ast.Name):
                scope[names[0]] = TensorList(
                    [self.named(names[0], node, f"{suffix}_{index}") for index, node in enumerate(items)]
                )
            case ast.Call() if parts:
                scope[names[0]] = self._parts(names[0], read, suffix)
            case ast.Tuple(elts=items) if len(items) == len(names) > 1:
                values = [self._value_of(*pair, suffix, before) for pair in zip(names, items, strict=True)]
                scope.update(zip(names, values, strict=True))
            case _ if len(names) == 1:
                scope[names[0]] = self._value_of(names[0], read, suffix, before)
            case _:
                fresh = [self._fresh(name, suffix) if inner else name for name in names]
                self._emit(ast.Tuple([ast.Name(name, ast.Store()) for name in fresh], ast.Store()), read)
                scope.update({name: name_node(text) for name, text in zip(names, fresh, strict=True)})

    def _value_of(self, name: str, value: ast.expr, suffix: str, before: int) -> ast.expr:
        """Value of *name* from here on; the lines since *before* were written for its *value*."""
        inner = bool(suffix or self.depth)
        if isinstance(value, ast.Name):
            if any(value.id in stored_names(assignment) for assignment, _ in self.lines[before:]):
                own = value.id == f"{name}{suffix}"
                fresh = value.id if own else self._fresh(name, suffix) if inner else name
                self._rename(value.id, fresh, before)
                return name_node(fresh)
            if inner or name in self.rebound:
                return value
        if isinstance(value, ast.Constant) and (inner or name in self.rebound):
            return value
        fresh = self._fresh(name, suffix) if inner else name
        self._emit(ast.Name(fresh, ast.Store()), value)
        return name_node(fresh)

    def named(self, name: str, value: ast.expr, suffix: str) -> ast.expr:
        """*value*, under a name of its own where it is not a name or a number already."""
        if isinstance(value, ast.Name | ast.Constant | ast.List):
            return value
        fresh = self._fresh(name, suffix)
        self._emit(ast.Name(fresh, ast.Store()), value)
        return name_node(fresh)

    def _parts(self, name: str, call: ast.Call, suffix: str) -> ast.expr:
        """A call of several results, for each place that reads one of them; what it cuts has a name."""
        match call.func:
            case ast.Attribute(value=ast.Name(id="torch")):
                call.args = [self._write_parts(name, argument, suffix) for argument in call.args[:1]] + call.args[1:]
            case ast.Attribute(value=tensor) as method:
                method.value = self._write_parts(name, tensor, suffix)
        return call

    def _write_parts(self, name: str, tensor: ast.expr, suffix: str) -> ast.expr:
        return tensor if isinstance(tensor, ast.Name) else self._value_of(name, tensor, suffix, len(self.lines))

    def _fresh(self, name: str, suffix: str) -> str:
        fresh, count = f"{name}{suffix}", 1
        while fresh in self.taken:
            count += 1
            fresh = f"{name}{suffix}_{count}"
        self.taken.add(fresh)
        return fresh

    def _emit(self, target: ast.expr, value: ast.expr) -> None:
        if len(self.lines) >= MOST_STATEMENTS:
            message = f"Written out, this program has more than {MOST_STATEMENTS} lines."
            raise self.stop(
                value if hasattr(value, "lineno") else self.tree.body[-1], "too-long", message, "Use fewer turns."
            )
        self.lines.append((ast.Assign([target], value), self.line))

    def _rename(self, old: str, new: str, since: int = 0) -> None:
        for line, _ in self.lines[since:]:
            for node in ast.walk(line):
                if isinstance(node, ast.Name) and node.id == old:
                    node.id = new

    # Expressions.

    def read(self, node: ast.expr, scope: Scope, suffix: str) -> ast.expr:
        """*node* with the names of tensors in the place of the author's, and calls of helpers written out."""
        expression = Inliner(self, scope, suffix).visit(deepcopy(node))
        assert isinstance(expression, ast.expr), "an expression is read as one"
        return expression

    def called(self, call: ast.Call, function: ast.FunctionDef, scope: Scope, suffix: str) -> ast.expr:
        """Write the lines of *function* and return its result as an expression."""
        if self.depth >= MAX_CALL_DEPTH:
            raise self.stop(
                call, "not-straight-line", f"The function {function.name!r} calls itself, or others too deeply."
            )
        local: Scope = {**self.top, **self._arguments(call, function, scope, suffix)}
        *body, last = function.body
        assert isinstance(last, ast.Return), "a helper ends in what it returns"
        assert last.value is not None, "a helper returns something"
        line, self.depth = self.line, self.depth + 1
        self.block(body, local, suffix)
        node = self.read(last.value, local, suffix)
        self.line, self.depth = line, self.depth - 1
        return node

    def _arguments(self, call: ast.Call, function: ast.FunctionDef, scope: Scope, suffix: str) -> Scope:
        names = [argument.arg for argument in function.args.args]
        words = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        arguments = {**dict(zip(names, call.args, strict=False)), **words}
        usual = dict(zip(names[::-1], function.args.defaults[::-1], strict=False))
        missing = [name for name in names if name not in arguments and name not in usual]
        if len(call.args) > len(names) or missing or set(arguments) - set(names) or len(words) < len(call.keywords):
            message = f"'{ast.unparse(call)}' does not fit '{function.name}({', '.join(names)})'."
            raise self.stop(call, "not-straight-line", message)
        return {name: self._argument(name, (usual | arguments)[name], scope, suffix) for name in names}

    def _argument(self, name: str, value: ast.expr, scope: Scope, suffix: str) -> "ast.expr | TensorList":
        read = self.read(value, scope, suffix)
        if isinstance(read, ast.List):
            return TensorList([self.named(name, elt, f"{suffix}_{index}") for index, elt in enumerate(read.elts)])
        return self.named(name, read, suffix)

    # The end.

    def end(self, outputs: Sequence[str]) -> None:
        """Let the tensors that the program ends in have the names by which *outputs* calls them."""
        for name in outputs:
            last = self.top.get(name)
            if not isinstance(last, ast.Name):
                continue
            if last.id != name and name in self.inputs:
                message = f"{name!r} is an input and an output as well."
                fix = f"Call the input '{name}0', and begin with '{name} = {name}0'."
                raise self.stop(self.tree.body[-1], "written-twice", message, fix)
            written = {text: line for assigned, line in self.lines for text in stored_names(assigned)}
            if last.id != name and name in written:
                self._rename(name, self._fresh(name, "_start"))
            read = {
                node.id
                for assignment, _ in self.lines
                for node in ast.walk(assignment.value)
                if isinstance(node, ast.Name)
            }
            if last.id in self.inputs or (len(outputs) > 1 and last.id in read):
                stored = last.id if last.id != name else self._fresh(name, "_inner")
                self._rename(last.id, stored)
                copied = ast.Call(ast.Attribute(name_node(stored), "clone", ast.Load()), [], [])
                self.lines.append((ast.Assign([ast.Name(name, ast.Store())], copied), written.get(last.id, self.line)))
            elif last.id != name:
                self._rename(last.id, name)
