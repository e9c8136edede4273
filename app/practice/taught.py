"""Operations that a forward program uses, and the one at which a gradient went wrong.

Lessons and drawn items are read alike: a statement is traced, and an operation is there if every kind of step that its
own example takes is. So nothing has to be said twice, neither in lessons nor in the table of operations.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache

import numpy as np

from app.content.blocks import Forward, Input, Lesson
from app.grading.forward.data import shape_of
from app.grading.operations.numerics import Array
from app.grading.operations.row import OperationExercise
from app.grading.operations.table import EXERCISES
from app.grading.reading.budget import EntryBudget
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import KnownNodes, OpNode, UntracedError
from app.practice.operations import FORK, FORKS, HEAP, MOVING, OF_A_NUMBER, OPERATIONS
from app.syntax import called_name, every_name_in, name_of, parse_code, targets_of

Kind = tuple[str, str]
"""What a step does, and how: to a `number`, `stretched` over another, `picked` by indices, on a `heap` of matrices."""
MAX_STATIC_NUMBER = 2**24
MATRIX = 2
UNSTEPPED = frozenset({"tensor", "number", "library"})
SMALL = {letter: size for size, letter in enumerate("abcdefghijkl", start=2)}


Steps = tuple[tuple[Kind, frozenset[str], frozenset[str], str], ...]


def steps_of(forward: Forward) -> Steps:
    """Every step of *forward* that can be read, with the names of the tensors that it reads itself, and of all those
    that its statement has read on the way to it, and what the statement writes.
    """
    return _steps(forward.source, forward.inputs, tuple(forward.dims.items()))


@lru_cache(maxsize=4096)
def _steps(source: str, inputs: tuple[Input, ...], dims: tuple[tuple[str, int], ...]) -> Steps:
    arrays = {}
    for tensor_input in inputs:
        with suppress(ValueError):
            fill = np.int64(0) if tensor_input.distribution == "ints" else np.float64(1.0)
            arrays[tensor_input.name] = np.broadcast_to(fill, shape_of(tensor_input, dict(dims)))
    # What is done with single numbers alone teaches nothing about tensors, and what is done with places nothing about
    # gradients: they have none.
    nodes = (
        (op_node, target)
        for op_node, target in _steps_written(source, arrays, dict(dims))
        if _scatters(op_node)
        or (op_node.value.dtype.kind not in "iu" and any(each.value.ndim for each in op_node.operands))
    )
    below: dict[int, frozenset[str]] = {}
    return tuple(
        (kind_of(node), _tensors_read(node), _tensors_below(node, below), target) for node, target in list(nodes)
    )


def operations_in(forward: Forward) -> frozenset[str]:
    """Names of the practice operations that *forward* uses."""
    return operations_of(kind for kind, *_ in steps_of(forward))


def operations_of(kinds: Iterable[Kind]) -> frozenset[str]:
    """Names of the operations whose every step is among *kinds*, and of products of heaps."""
    # Who can undo a copy along an axis can do without one, and who knows heaps knows matrices.
    known = {item for kind in kinds for item in (kind, _plain(kind))}
    named = frozenset(
        operation.name
        for operation in EXERCISES
        if operation.name in _examples() and _examples()[operation.name] <= known
    )
    return named | ({HEAP} if ("matmul", HEAP) in known else frozenset())


def programs_asked(lesson: Lesson) -> tuple[Forward, ...]:
    """The programs of *lesson* that something is asked about."""
    asked = dict.fromkeys(exercise.forward for exercise in lesson.exercises if exercise.forward)
    return tuple(lesson.forwards[name] for name in asked if name in lesson.forwards)


def taught_by(lesson: Lesson) -> frozenset[Kind]:
    """The kinds of steps in those programs of *lesson* that something is asked about."""
    return frozenset(kind for program in programs_asked(lesson) for kind, *_ in steps_of(program))


def family_at(forward: Forward, tensor: str, slip: str, share: str = "") -> str | None:
    """The family of operations at which the gradient of *tensor* shows *slip*; None where no such step reads it.

    Args:
        share: The result through which the wrong share comes back, such as `r`; empty where it is none of several.

    A slip in a number is that of a step which computes one: in `-q[i, t].mean()` the average, and not what is picked.
    """
    steps = steps_of(forward)
    if share and (family := _family_of_share(steps, tensor, share)):
        return family
    readers = [kind for kind, names, *_ in steps if tensor in names]
    families = [family for kind in readers for family in _families(kind)]
    if slip in OF_A_NUMBER and {*families} <= MOVING:
        later = (family for kind, _, below, _ in steps if tensor in below for family in _families(kind))
        families = [family for family in later if family not in MOVING] + families
    if slip in FORKS and len(readers) > 1:
        return FORK
    fitting = [family for family in families if any(slip in each.shows for each in EXERCISES if each.family == family)]
    return next(iter((*fitting, *families)), None)


def _family_of_share(steps: Steps, tensor: str, share: str) -> str | None:
    """The family of the longest operation that makes *share* of *tensor*: of a norm, and not of the square in it."""
    own = [(kind, names) for kind, names, _, target in steps if target == share]
    read = {kind for kind, names in own if tensor in names}
    rows = [
        OPERATIONS[name]
        for name in operations_of(kind for kind, _ in own)
        if name in _examples() and _examples()[name] & read
    ]
    return max(rows, key=lambda row: (len(_examples()[row.name]), row.name)).family if rows else None


def families_of(operations: Iterable[str]) -> frozenset[str]:
    return frozenset(OPERATIONS[name].family for name in operations if name in OPERATIONS)


def kind_of(node: OpNode) -> Kind:
    if _scatters(node):
        return "index_add", ""
    plain = [op_node.op == "number" for op_node in node.operands]
    if any(plain):
        return node.op, "number"
    if node.op == "matmul":
        return node.op, HEAP if any(op_node.value.ndim > MATRIX for op_node in node.operands) else ""
    if node.op == "index":
        index = node.options.get("index", ())
        parts = index if isinstance(index, tuple) else (index,)
        return node.op, "picked" if any(isinstance(part, np.ndarray) and part.ndim for part in parts) else ""
    stretched = node.op in {"add", "sub", "mul", "div"} and any(
        op_node.value.shape != node.value.shape for op_node in node.operands
    )
    return node.op, "stretched" if stretched else ""


def _plain(kind: Kind) -> Kind:
    return (kind[0], "") if kind[1] in {"stretched", HEAP} else kind


@cache
def _families(kind: Kind) -> tuple[str, ...]:
    """The family of copies, where a step of *kind* makes some, and that of the simplest operation that ends in one."""
    copies = ["broadcast"] if kind[1] == "stretched" else []
    ends = [operation for operation in EXERCISES if _roots().get(operation.name) in {kind, _plain(kind)}]
    simplest = sorted(ends, key=lambda operation: len(_examples()[operation.name]))[:1]
    return tuple(dict.fromkeys([*copies, *(operation.family for operation in simplest)]))


@cache
def _kinds_by_operation() -> Mapping[str, tuple[Kind, ...]]:
    """By operation, the kinds of its steps, the last one of all last."""
    return {operation.name: kinds for operation in EXERCISES if (kinds := tuple(_example(operation)))}


@cache
def _examples() -> Mapping[str, frozenset[Kind]]:
    return {name: frozenset(kinds) for name, kinds in _kinds_by_operation().items()}


@cache
def _roots() -> Mapping[str, Kind]:
    return {name: kinds[-1] for name, kinds in _kinds_by_operation().items()}


def _example(operation: OperationExercise) -> Iterator[Kind]:
    """The kinds of the steps of *operation* on its first shapes."""
    shapes, _, axis = operation.shapes[0].partition("@")
    operands = [part.strip() for part in shapes.partition("->")[0].split(",")]
    names = "xzm"
    lead = "" if "@" in operation.forward else "l"
    arrays = {name: _array(operand.replace("...", lead)) for name, operand in zip(names, operands, strict=False)}
    source = operation.forward.format(*names, axis=axis.strip(), **SMALL)
    return (kind_of(node) for node in _nodes(f"y = {source}", arrays, {}))


def _array(operand: str) -> Array:
    """An array for one operand of a row of the table, such as `l a b` or `a c:ints(b)`."""
    sizes, _, what = operand.partition(":")
    shape = [SMALL[part] if part in SMALL else int(part) for part in sizes.replace("*", "a b").split()]
    fill = np.int64(0) if what.startswith("ints") else np.bool_(False) if what.startswith("mask") else np.float64(1.0)
    return np.broadcast_to(fill, shape)


def _nodes(source: str, arrays: Mapping[str, Array], dims: Mapping[str, int]) -> Iterator[OpNode]:
    return (node for node, _ in _steps_written(source, arrays, dims))


def _steps_written(source: str, arrays: Mapping[str, Array], dims: Mapping[str, int]) -> Iterator[tuple[OpNode, str]]:
    """The steps of each statement of *source* that can be read, what is computed first before, with what it writes."""
    scope = Interpreter(arrays, dims, EntryBudget(data_sizes=False, largest=MAX_STATIC_NUMBER))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in parse_code(source).body:
            known: KnownNodes = {}
            with suppress(UntracedError):
                scope.run([statement], known)
            target = next(map(name_of, targets_of(statement)), "")
            yield from ((node, target) for node in known.values() if _scatters(node) or node.op not in UNSTEPPED)


def _scatters(node: OpNode) -> bool:
    """True if rows are added at indices, which is read for its value alone."""
    return node.op == "library" and node.expr is not None and called_name(node.expr) == "index_add"


def _tensors_read(node: OpNode) -> frozenset[str]:
    if _scatters(node) and node.expr is not None:
        return frozenset(every_name_in(node.expr))
    return frozenset(op_node.text for op_node in node.operands if op_node.op == "tensor")


def _tensors_below(node: OpNode, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """The tensors that *node* and the steps before it read; *known* by identity: a step may be read many times."""
    if id(node) not in known:
        known[id(node)] = _tensors_read(node).union(*(_tensors_below(operand, known) for operand in node.operands))
    return known[id(node)]
