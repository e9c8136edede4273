"""A forward program read as straight-line statements: who writes which tensor, who reads it, in which order.

Everything the product knows about an exercise follows from this reading, so what cannot be read this way (a loop, a
name written twice, a write in place) is refused with the author's line; nothing is guessed.
"""

import ast
import builtins
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from app.bindings import MODULES
from app.syntax import as_written, nodes_in

_BUILTINS = frozenset(dir(builtins))


class ProgramError(ValueError):
    """Error of a program that is not straight-line torch; *line* counts from 1 within its source."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForwardStatement:
    """One assignment of a forward program.

    Args:
        index: Position in the program, from 0.
        outputs: Names it writes (usually one).
        inputs: Names of tensors it reads, one per occurrence, in source order.
        node: The right-hand side.
        source: The statement's text, on one line.
    """

    index: int
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    node: ast.expr
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradientPath:
    """One way in which a tensor reaches the output: as occurrence *position* of *statement*."""

    key: str
    statement: ForwardStatement
    position: int

    @property
    def consumer(self) -> str:
        return self.statement.outputs[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProgram:
    statements: tuple[ForwardStatement, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def tensors(self) -> tuple[str, ...]:
        """Every name that the program starts from or writes, in program order."""
        return self.inputs + tuple(name for statement in self.statements for name in statement.outputs)

    def paths(self, tensor: str) -> tuple[GradientPath, ...]:
        """The occurrences of *tensor* as an operand, in program order."""
        return tuple(
            GradientPath(key=path_key(statement.index, position), statement=statement, position=position)
            for statement in self.statements
            for position, name in enumerate(statement.inputs)
            if name == tensor
        )

    def frontier(self, tensor: str, forced: Collection[str]) -> frozenset[str]:
        """The gradients among *forced* (such as `dY`) that meet *tensor* first, on each way from the output."""
        names: set[str] = set()
        waiting, seen = [tensor], {tensor}
        while waiting:
            for path in self.paths(waiting.pop()):
                for output in path.statement.outputs:
                    if f"d{output}" in forced:
                        names.add(f"d{output}")
                    elif output not in seen:
                        seen.add(output)
                        waiting.append(output)
        return frozenset(names)

    def backward_order(self, tensors: Iterable[str]) -> tuple[str, ...]:
        """*tensors* in the order in which a backward pass completes their gradients, the outputs first."""

        def completed(tensor: str) -> tuple[int, int]:
            if tensor in self.outputs:
                return (-len(self.statements), self.outputs.index(tensor))
            first = next(iter(self.paths(tensor)), None)
            return (1, 0) if first is None else (-first.statement.index, first.position)

        return tuple(sorted(tensors, key=completed))


def path_key(statement: int, position: int) -> str:
    return f"{statement}.{position}"


def read_program(source: str, inputs: Collection[str], dims: Collection[str], *outputs: str) -> ForwardProgram:
    """Read *source* as statements.

    Raises:
        ProgramError: The text is not a straight-line program that ends in *outputs*.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ProgramError(f"this is not Python: {getattr(error, 'msg', None) or error}", line) from None
    known = dict.fromkeys(inputs)
    constants = MODULES | set(dims)
    statements: list[ForwardStatement] = []
    for node in body:
        statement = _statement(len(statements), node, known, constants)
        statements.append(statement)
        known.update(dict.fromkeys(statement.outputs))
    for output in outputs:
        if output not in known:
            raise ProgramError(f"the output `{output}` is never written", body[-1].lineno if body else 1)
    return ForwardProgram(statements=tuple(statements), inputs=tuple(inputs), outputs=outputs)


def _statement(index: int, node: ast.stmt, known: Mapping[str, None], constants: Collection[str]) -> ForwardStatement:
    if not isinstance(node, ast.Assign):
        raise ProgramError(
            f"a forward program is a list of assignments such as `Y = X @ W`; this is {_kind(node)}", node.lineno
        )
    outputs = _targets(node)
    for name in outputs:
        if name in known:
            raise ProgramError(f"`{name}` is written twice; give the new tensor its own name", node.lineno)
        if name in constants:
            raise ProgramError(f"`{name}` is a size or a module already; choose another name", node.lineno)
    if isinstance(node.value, ast.Name):
        raise ProgramError(
            f"`{outputs[0]} = {node.value.id}` gives one tensor two names; write `{node.value.id}.clone()`", node.lineno
        )
    return ForwardStatement(
        index=index,
        outputs=outputs,
        inputs=_occurrences(node.value, known, constants),
        node=node.value,
        source=as_written(node),
    )


def _targets(node: ast.Assign) -> tuple[str, ...]:
    if len(node.targets) != 1:
        raise ProgramError("assign one name per statement, not `a = b = …`", node.lineno)
    target = node.targets[0]
    if isinstance(target, ast.Name):
        return (target.id,)
    if isinstance(target, ast.Tuple | ast.List):
        names = tuple(elt.id for elt in target.elts if isinstance(elt, ast.Name))
        if len(names) == len(target.elts) and len(set(names)) == len(names):
            return names
    raise ProgramError(
        f"`{ast.unparse(target)}` cannot be written here: assign to plain names, each of them once", node.lineno
    )


def _occurrences(node: ast.expr, known: Mapping[str, None], constants: Collection[str]) -> tuple[str, ...]:
    names = [name_node for name_node in nodes_in(node) if isinstance(name_node, ast.Name)]
    local = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    local |= {argument.arg for argument in nodes_in(node) if isinstance(argument, ast.arg)}
    for inner in nodes_in(node):
        if isinstance(inner, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise ProgramError(f"`{ast.unparse(inner)}` is not allowed inside a statement", inner.lineno)
        if isinstance(inner, ast.Attribute) and inner.attr.endswith("_") and not inner.attr.startswith("_"):
            raise ProgramError(f"`.{inner.attr}` writes in place; use the form without the underscore", inner.lineno)
    shadowed = sorted(local & set(known))
    if shadowed:
        raise ProgramError(f"`{shadowed[0]}` is a tensor; a loop variable needs another name", node.lineno)
    for inner in names:
        if inner.id not in known and inner.id not in constants and inner.id not in local and inner.id not in _BUILTINS:
            raise ProgramError(
                f"`{inner.id}` is not known here; list it under :inputs: or :dims:, or write it first", inner.lineno
            )
    occurrences = sorted((name.lineno, name.col_offset, name.id) for name in names if name.id in known)
    return tuple(name for _, _, name in occurrences)


def _kind(node: ast.stmt) -> str:
    kinds: dict[type[ast.stmt], str] = {
        ast.For: "a loop",
        ast.While: "a loop",
        ast.If: "a branch",
        ast.AugAssign: "an assignment in place; write `y = y_before + …` with a fresh name",
        ast.AnnAssign: "an annotated assignment",
        ast.FunctionDef: "a function definition",
        ast.ClassDef: "a class",
        ast.Import: "an import; `torch`, `F` and `math` are in scope",
        ast.ImportFrom: "an import; `torch`, `F` and `math` are in scope",
        ast.Expr: "an expression whose value is lost",
    }
    return kinds.get(type(node), f"a statement of another kind ({type(node).__name__})")
