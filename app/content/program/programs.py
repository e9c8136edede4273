"""Checks of Python in a lesson that do not run it: whether it parses, and the names it writes.

A forward program becomes a straight line: assignments only, each name written once, nothing read before it is known.
"""

import ast
import builtins
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.bindings import assigned_names
from app.content.blocks import Forward, SourceLocation
from app.content.program.straight_line_checks import data_sized_part, is_mask, untraceable_part
from app.content.program.unroll import Unrolled, UnrollError, unroll_program
from app.content.program.written_text import written_at
from app.content.text.errors import ErrorCollector, did_you_mean

BOX_MODULES = ("torch", "F", "math")
MAX_CODE_CHARS = 50_000
"""Characters of a program or a solution: as many as a box takes."""
_ELSEWHERE = {"np": "torch", "numpy": "torch", "nn": "F", "functional": "F"}
_ELSEWHERE |= {
    name: f"{module}.{name}"
    for module, names in {
        "torch": "cat cos einsum exp eye log matmul maximum mean minimum ones ones_like relu sigmoid sin sqrt stack "
        "tanh tril where zeros zeros_like",
        "F": "cross_entropy embedding gelu layer_norm log_softmax mse_loss nll_loss normalize one_hot pad silu softmax "
        "softplus",
    }.items()
    for name in names.split()
}
"""What authors write without its module, or under the name of another one, by what it is here."""


@dataclass(frozen=True, slots=True)
class SyntaxIssue:
    """A syntax fault; the line counts from 1 within the source."""

    line: int
    column: int
    message: str


def parse_program(source: str) -> ast.Module | SyntaxIssue:
    """The syntax tree of *source*, or why there is none. Never raises."""
    if len(source) > MAX_CODE_CHARS:
        return SyntaxIssue(1, 1, f"longer than {MAX_CODE_CHARS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        return SyntaxIssue(error.lineno or 1, max(error.offset or 1, 1), str(error.msg))
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxIssue(1, 1, str(error) or "nested too deeply")


def check_python(source: str, line: int, what: str, faults: ErrorCollector) -> ast.Module | None:
    """Parse code of the author; a fault is added at its exact line of the file."""
    if len(source) > MAX_CODE_CHARS:
        faults.add(
            faults.at(line), "too-long", f"{what} has {len(source):,} characters; a box takes {MAX_CODE_CHARS:,}."
        )
        return None
    tree = parse_program(source)
    if isinstance(tree, SyntaxIssue):
        place = faults.at(line + tree.line - 1, tree.column)
        faults.add(place, "syntax", f"{what} is not Python: {tree.message}.")
        return None
    return tree


def sound_tree(source: str) -> ast.Module:
    """The syntax tree of *source*; an empty one where it is not Python."""
    tree = parse_program(source)
    return tree if isinstance(tree, ast.Module) else ast.Module([], [])


def is_python(source: str) -> bool:
    return isinstance(parse_program(source), ast.Module)


def function_names(tree: ast.Module) -> tuple[str, ...]:
    """The functions that *tree* defines."""
    return tuple(statement.name for statement in tree.body if isinstance(statement, ast.FunctionDef))


def defined_in(tree: ast.Module, name: str, count: int) -> bool:
    """True if *tree* defines a function or a class *name* that can be called with *count* arguments."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return _takes(statement, count)
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            makers = [
                function
                for function in statement.body
                if isinstance(function, ast.FunctionDef) and function.name == "__init__"
            ]
            return any(_takes(maker, count + 1) for maker in makers) if makers else not count
    return False


def _takes(function: ast.FunctionDef, count: int) -> bool:
    most = len(function.args.posonlyargs) + len(function.args.args)
    return most - len(function.args.defaults) <= count <= most


def read_in(source: str) -> tuple[str, ...]:
    """Every name that *source* reads without having written it anywhere; nothing where it is not Python."""
    tree = sound_tree(source)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    known = {*assigned_names(tree), *BOX_MODULES}
    return tuple(dict.fromkeys(name for name in names if name not in known and not hasattr(builtins, name)))


def target_names(statement: ast.Assign) -> tuple[str, ...] | None:
    """The names that a plain assignment writes, or None where a target is not a plain name."""
    if len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if not all(isinstance(name, ast.Name) for name in names):
        return None
    return tuple(name.id for name in names if isinstance(name, ast.Name))


def straight_line_program(
    source: str,
    line: int,
    dims: Mapping[str, int],
    inputs: Collection[str],
    outputs: Sequence[str],
    faults: ErrorCollector,
) -> Unrolled | None:
    """The forward program *source* with its loops and helpers written out; None, and a fault, where it cannot be.

    Args:
        line: Line of the file on which *source* starts.
    """

    def tell(node: ast.AST, code: str, message: str, fix: str) -> None:
        row, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        faults.add(faults.at(line + row - 1, column + 1), code, message, fix)

    tree = check_python(source, line, "The forward program", faults)
    try:
        unrolled = unroll_program(tree, dims, inputs, outputs, tell) if tree else None
    except UnrollError:
        return None
    except RecursionError:
        faults.add(faults.at(line), "syntax", "The forward program is nested too deeply.")
        return None
    return (unrolled or Unrolled(source, (), frozenset())) if tree else None


def check_forward(
    program: Unrolled, line: int, known: Iterable[str], faults: ErrorCollector, truths: Iterable[str] = ()
) -> tuple[str, ...]:
    """The names that the forward *program* writes; faults where it is not a straight line.

    Args:
        line: Line of the file on which the author's text starts.
        known: Dims and inputs.
        truths: The inputs that are masks.
    """
    tree = sound_tree(program.source)

    def at(node: ast.stmt | ast.expr) -> SourceLocation:
        if program.lines:
            return faults.at(line + program.lines[node.lineno - 1] - 1)
        return faults.at(line + node.lineno - 1, node.col_offset + 1)

    scope = set(known)
    outputs: list[str] = []
    masks = set(truths)
    below = {name: at(item).line for item in reversed(tree.body) for name in assigned_names(item)}
    for statement in tree.body:
        place = at(statement)
        names = target_names(statement) if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or names is None:
            message = "A forward program is a straight line of assignments such as 'Y = X @ W'."
            faults.add(place, "not-straight-line", message, "Write this step as an assignment to a new name.")
            continue
        if isinstance(statement.value, ast.Name):
            message = f"This gives one tensor two names, {statement.value.id!r} and {names[0]!r}."
            faults.add(place, "alias", message, f"Write '{names[0]} = {statement.value.id}.clone()'.")
        unknown = _check_reads(statement.value, scope | set(outputs), below, at, faults)
        scope |= unknown - set(below) if program.lines else set()  # told once, and not in every turn
        if (left := untraceable_part(statement.value)) is not None:
            faults.add(at(left[0]), "no-tensor", *left[1:])
        if (part := data_sized_part(statement.value, masks)) is not None:
            message = "How many entries this leaves depends on the numbers, so it has no shape of its own."
            faults.add(at(part), "depends-on-data", message, "Keep them all: 'torch.where(mask, X, 0.0)'.")
        masks |= set(names) if is_mask(statement.value, masks) else set()
        for name in names:
            if name in scope or name in outputs or name in BOX_MODULES:
                faults.add(
                    place, "written-twice", f"The name {name!r} is already taken.", "Give every tensor its own name."
                )
            else:
                outputs.append(name)
    return tuple(outputs)


def _check_reads(
    expression: ast.expr,
    scope: set[str],
    below: Mapping[str, int],
    place_of: Callable[[ast.expr], SourceLocation],
    faults: ErrorCollector,
) -> set[str]:
    """The names that are not in *scope*, each with a fault; *below* has the lines of those that are written later."""
    unknown: set[str] = set()
    local = set(_names_bound_inside(expression))
    for node in ast.walk(expression):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id in scope or node.id in local or node.id in BOX_MODULES or hasattr(builtins, node.id):
            continue
        place = place_of(node)
        unknown.add(node.id)
        if node.id in below:
            fix = f"It has a value only after line {below[node.id]}."
        elif node.id in _ELSEWHERE:
            fix = f"Did you mean {_ELSEWHERE[node.id]!r}?"
        else:
            fix = did_you_mean(node.id, scope | set(BOX_MODULES))
        faults.add(place, "unknown-name", f"The name {node.id!r} is not known at this line.", fix)
    return unknown


def _names_bound_inside(expression: ast.expr) -> Iterator[str]:
    """Names that comprehensions and lambdas inside *expression* bind for themselves."""
    for node in ast.walk(expression):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def outputs_of(forward: Forward) -> tuple[str, ...]:
    """The names that a forward program writes, in order."""
    return assigned_names(sound_tree(forward.source))


def statement_of(tensor: str, forward: Forward) -> str:
    """Line of *forward* that writes *tensor*, as it is written; for an input, its name."""
    return next((statement for names, statement in written_lines(forward) if tensor in names), tensor)


def written_lines(forward: Forward) -> list[tuple[tuple[str, ...], str]]:
    """The statements of *forward*: the names that each writes, and its source."""
    statements = [statement for statement in sound_tree(forward.source).body if isinstance(statement, ast.Assign)]
    names = [target_names(statement) or () for statement in statements]
    return list(zip(names, written_at(forward.source, statements), strict=True))


def tensors_of(forward: Forward) -> tuple[str, ...]:
    """Inputs and intermediates, in the order in which they come to be."""
    return tuple(dict.fromkeys((*(tensor_input.name for tensor_input in forward.inputs), *outputs_of(forward))))


def tensor_of(gradient: str, forward: Forward) -> str | None:
    """The tensor that *gradient* (such as `dW`) is the gradient of, or None where there is none."""
    whole = {tensor_input.name for tensor_input in forward.inputs if not tensor_input.real}
    tensors = set(tensors_of(forward)) - whole
    return gradient[1:] if gradient.startswith("d") and gradient[1:] in tensors else None


def check_gradient(
    name: str, place: SourceLocation, forward: Forward, faults: ErrorCollector, others: Iterable[str] = ()
) -> bool:
    """Check that *name* is `d` + a tensor of *forward*; adds an error if it is not, nor can be one of *others*."""
    if tensor_of(name, forward):
        return True
    known = [f"d{tensor}" for tensor in tensors_of(forward) if tensor_of(f"d{tensor}", forward)]
    message = f"{name!r} is not the gradient of a tensor of the forward program {forward.name!r}."
    if any(others):
        message = f"{name!r} is no tensor of the forward program {forward.name!r}, nor the gradient of one."
    faults.add(place, "unknown-gradient", message, did_you_mean(name, (*known, *others)))
    return False
