"""A program for a level, drawn from a seed: the same version, level, seed and wish give the same text.

A walk over tensors: each step applies an operation that fits to a tensor that is there, new inputs come as they are
needed, and a tensor without a consumer is multiplied into the output.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, count

from app.grading.operations.row import OperationExercise
from app.grading.operations.table import EXERCISES
from app.practice.backward import ForwardStep, backward_lines
from app.practice.item import GeneratedItem
from app.practice.named_programs import NAMED, NamedProgram
from app.practice.operations import FORKS, OPERATIONS, SQUARE
from app.practice.shapes import Form, OperandPattern, Shape, as_factor, broadcast_shape, form_of, match_shape, shape_of

VERSION = 5
"""Texts of version 3 and before name their seed, those of version 4 a size `T`; nobody is given these any more."""
WALK = 2
"""The version whose lines are drawn: a later one that only writes them otherwise has the same programs as before."""
DIMS: Mapping[str, int] = {"N": 5, "D": 4, "H": 3, "K": 6, "L": 2}
LENGTHS: Mapping[int, tuple[int, int]] = {1: (2, 3), 2: (3, 5), 3: (6, 8)}
"""By level: how many lines the walk makes."""
FORKED: Mapping[int, tuple[int, int]] = {1: (0, 0), 2: (1, 2), 3: (2, 9)}
"""By level: how many tensors have several readers."""
BANDS: Mapping[int, tuple[int, int]] = {1: (1, 6), 2: (7, 16), 3: (17, 36)}
"""By level: the points of an exercise."""
FORK_POINTS, STRETCH_POINTS, INDEX_POINTS = 3, 2, 2
MAX_DRAW_TRIES = 4_000
JOINS = frozenset({"add", "mul"})
TYING = frozenset({"gate", "index"})
"""Families that make entries equal: of two winners torch takes halves, and a rule with `==` the whole of each."""
SUMS = frozenset({"add", "sub"})
PRODUCTS = frozenset({"mul", "div"})
TAKEN_BACK: Mapping[str, frozenset[str]] = {
    "add": frozenset({"sub"}),
    "sub": SUMS,
    "mul": frozenset({"div"}),
    "div": PRODUCTS,
}
"""By operation: what it may undo, where one of its two tensors was made from the other."""
LETTERS: Mapping[str, str] = {
    "": "WUVBCPQ",
    "vector": "bcgsw",
    "mask": "MR",
    "ints": "ij",
    "line": "hzuvaemqrpfkw",
}


class NothingFitsError(ValueError):
    """No program of that level can be drawn from these operations."""


@dataclass(frozen=True, slots=True)
class Tensor:
    shape: Shape
    flags: frozenset[str]
    graded: bool = True


@dataclass(slots=True)
class ProgramBuilder:
    """A program in the making."""

    chance: random.Random
    level: int
    square: bool
    inputs: list[str] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    steps: list[ForwardStep] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    stretched: int = 0
    indexed: int = 0

    def take(self, shape: Shape, kind: str = "", name: str = "") -> str:
        """A new input."""
        pool = LETTERS.get(kind.partition("(")[0]) or LETTERS["vector" if len(shape) == 1 else ""]
        name = name or self.free(pool)
        text = f"[{', '.join(shape)}]"
        drawn = kind if kind not in {"", "mask"} else ""
        self.inputs.append(f"{name}: {_quoted(text, drawn)}")
        flags = frozenset({"positive", "tame", "free"} if kind == "positive" else {"signed", "wide", "tame", "free"})
        self.tensors[name] = Tensor(shape, flags, graded=kind in {"", "positive"})
        self.indexed += kind.startswith("ints")
        return name

    def cancels(self, operation: str, first: str, other: str) -> bool:
        """True if *operation* may undo what has just made one of the two from the other."""
        makers = [
            step
            for step in self.steps
            for a, b in ((first, other), (other, first))
            if step.name == a and b in step.operands
        ]
        return any(step.operation.family == "gate" or step.operation.rule in TAKEN_BACK[operation] for step in makers)

    def free(self, pool: str) -> str:
        """A name from *pool* that no tensor and no dim has, in capital or small letters."""
        taken = {name.casefold() for name in (*self.tensors, *DIMS)}
        letters = self.chance.sample(pool, len(pool))
        numbered = (f"{pool[0]}{at}" for at in count(1))
        return next(name for name in chain(letters, numbered) if name.casefold() not in taken)

    @property
    def forks(self) -> int:
        return sum(self.read.count(name) > 1 for name in set(self.read) if self.tensors[name].graded)

    @property
    def points(self) -> int:
        own = sum(step.operation.points for step in self.steps)
        return own + FORK_POINTS * self.forks + STRETCH_POINTS * self.stretched + INDEX_POINTS * self.indexed


def _quoted(sizes: str, drawn: str) -> str:
    return f'"{sizes} {drawn}"' if drawn else sizes


def generate_item(level: int, seed: int, wanted: str = "", within: Sequence[str] = ()) -> GeneratedItem:
    """The exercise of *level* that *seed* gives.

    Args:
        wanted: A row of the diagnosis that it has to be able to show; empty for any.
        within: Names of the operations that it may use; empty for all.

    Raises:
        NothingFitsError: No operation can show what is wanted, or *within* holds too little.
    """
    within = tuple(sorted(set(within)))
    if unknown := sorted(set(within) - set(OPERATIONS)):
        raise NothingFitsError(f"{unknown[0]!r} is no operation. There are: {', '.join(sorted(OPERATIONS))}.")
    table = [
        operation for operation in EXERCISES if operation.level <= level and (not within or operation.name in within)
    ]
    shown = {slip for operation in table for slip in operation.shows} | (FORKS if FORKED[level][1] else frozenset())
    if wanted and wanted not in shown:
        slips = sorted(shown)
        raise NothingFitsError(
            f"No operation of level {level} shows the slip {wanted!r}. There are: {', '.join(slips)}."
        )
    if level > 1 and not any(operation.other for operation in table):
        raise NothingFitsError(f"An exercise of level {level} has a fork, and none of these operations makes one.")
    chance = random.Random(f"{WALK}/{level}/{seed}/{wanted}/{' '.join(within)}")
    for _ in range(MAX_DRAW_TRIES):
        draft = _draw_walk(chance, level, table, wanted)
        if draft is not None and _is_meant(draft, level, wanted):
            return _item(draft, level, seed, wanted, within)
    raise NothingFitsError(f"No program of level {level} can be drawn from {', '.join(within) or 'all operations'}.")


@cache
def named_items(level: int) -> tuple[GeneratedItem, ...]:
    """The programs of *level* that have a name; their seeds are below zero."""
    rows = enumerate(NAMED, start=1)
    return tuple(_named_item(program, -number) for number, program in rows if program.level == level)


def _named_item(program: NamedProgram, seed: int) -> GeneratedItem:
    rows = [OPERATIONS[name] for name in program.operations]
    item = GeneratedItem(
        version=VERSION, level=program.level, seed=seed, wanted="", within=(), forward=program.forward, solution="",
        by=(), operations=program.operations, points=sum(row.points for row in rows),
    )  # fmt: skip
    lines = backward_lines([step for step in item.steps if step is not None])
    return replace(item, solution="".join(f"{line}\n" for line, _ in lines), by=tuple(by for _, by in lines))


def _is_meant(draft: ProgramBuilder, level: int, wanted: str) -> bool:
    if (
        wanted
        and wanted not in FORKS
        and not any(wanted in forward_step.operation.shows for forward_step in draft.steps)
    ):
        return False
    (low, high), (fewest, most) = BANDS[level], FORKED[level]
    return low <= draft.points <= high and fewest <= draft.forks <= most


def _draw_walk(
    chance: random.Random, level: int, table: Sequence[OperationExercise], wanted: str
) -> ProgramBuilder | None:
    draft = ProgramBuilder(chance, level, square=level > 2 or wanted in SQUARE)
    axes = 3 if level > 1 and chance.random() < 0.25 else 2
    draft.take(tuple(chance.sample([*DIMS][: axes + 2], axes)), name="X")
    weights = [operation.weight * (6 if wanted in operation.shows else 1) for operation in table]
    length = chance.randint(*LENGTHS[level])
    for _ in range(6 * length):
        if len(draft.steps) == length:
            break
        _step(draft, chance.choices(table, weights)[0], _place(draft))
    if not _join_unread(draft, [operation for operation in table if operation.name in JOINS]) or not {
        name.partition(":")[0] for name in draft.inputs
    } <= set(draft.read):
        return None
    return draft


def _place(draft: ProgramBuilder) -> str:
    """The tensor that goes on: most often the last one."""
    lines = [step.name for step in draft.steps]
    if not lines:
        return "X"
    return draft.chance.choice(lines) if draft.level > 1 and draft.chance.random() < 0.35 else lines[-1]


def _join_unread(draft: ProgramBuilder, joins: Sequence[OperationExercise]) -> bool:
    """Join tensors without a consumer in the output, by one of *joins*; False if it does not fit."""
    while len(ends := [step.name for step in draft.steps if step.name not in draft.read]) > 1:
        left, right = ends[-1], ends[-2]
        shape = broadcast_shape(draft.tensors[left].shape, draft.tensors[right].shape)
        if shape is None or "1" in shape or not joins:
            return False
        _apply(draft, draft.chance.choice(joins), None, (left, right), {"*": shape})
    return bool(draft.steps) and "1" not in draft.tensors[draft.steps[-1].name].shape and ends == [draft.steps[-1].name]


def _step(draft: ProgramBuilder, operation: OperationExercise, x: str) -> None:
    """Applies *operation* to *x*, if one of its forms fits."""
    tensor = draft.tensors[x]
    maker = next((forward_step.operation.name for forward_step in draft.steps if forward_step.name == x), "")
    if not set(operation.needs.split()) <= tensor.flags or (maker and maker == operation.undoes):
        return
    if operation.name == "max" and any(forward_step.operation.family in TYING for forward_step in draft.steps):
        return
    if operation.other:
        _with_other(draft, operation, x)
        return
    forms = [form_of(shape) for shape in operation.shapes]
    form = draft.chance.choice([item for item in forms if draft.square or not item.is_square] or forms)
    sizes = match_shape(form.operands[operation.walk].axes, tensor.shape)
    fresh = [size for size in DIMS if size not in " ".join(tensor.shape)]
    new = {letter for operand in (*form.operands, OperandPattern(form.output)) for letter in operand.letters}
    if sizes is None or len(new - set(sizes)) > len(fresh) or _is_used_up(form, sizes):
        return
    draft.chance.shuffle(fresh)
    sizes |= {letter: (fresh.pop(),) for letter in sorted(new - set(sizes))}
    operands = [
        x if at == operation.walk else _new(draft, operand_pattern, sizes)
        for at, operand_pattern in enumerate(form.operands)
    ]
    _apply(draft, operation, form, tuple(operands), sizes)


def _is_used_up(form: Form, sizes: Mapping[str, Shape]) -> bool:
    """True if *form* leaves less of an axis than there is, of one that may be a single place by now."""
    shorter = [axis for axis in form.output if "-" in axis]
    return any(not sizes[letter][0].isalnum() for axis in shorter for letter in axis if letter in sizes)


def _new(draft: ProgramBuilder, operand: OperandPattern, sizes: Mapping[str, Shape]) -> str:
    kind = re.sub(r"\((\w)\)", lambda match: f"({sizes[match[1]][0]})", operand.kind)
    return draft.take(shape_of(operand.axes, sizes), kind)


def _with_other(draft: ProgramBuilder, operation: OperationExercise, x: str) -> None:
    """A second tensor of the program that fits: this is what makes forks and residuals."""
    shape, divides = draft.tensors[x].shape, operation.name == "div"
    fitting = {
        name: wide
        for name, tensor in draft.tensors.items()
        if name != x
        and tensor.graded
        and (wide := broadcast_shape(tensor.shape, shape)) is not None
        and "1" not in wide
        if (not divides or "positive" in tensor.flags) and not draft.cancels(operation.name, x, name)
    }
    if fitting:
        other = draft.chance.choice(list(fitting))
        _apply(draft, operation, None, (x, other), {"*": fitting[other]})


def _apply(
    draft: ProgramBuilder,
    operation: OperationExercise,
    form: Form | None,
    operands: tuple[str, ...],
    sizes: Mapping[str, Shape],
) -> None:
    tensors = [draft.tensors[operand] for operand in operands]
    fields = {letter: as_factor(size[0]) for letter, size in sizes.items() if letter.isalpha()}
    if form and form.axis is not None:
        fields["axis"] = str(form.axis)
    step = ForwardStep(
        name=draft.free(LETTERS["line"]),
        operation=operation,
        operands=operands,
        fields=fields,
        shape=shape_of(form.output, sizes) if form else sizes["*"],
        shapes=tuple(tensor.shape for tensor in tensors),
    )
    draft.steps.append(step)
    draft.tensors[step.name] = Tensor(step.shape, _flags(operation, [tensor.flags for tensor in tensors]))
    draft.read += operands
    draft.stretched += sum(step.is_stretched(at) for at in range(len(step.operation.back[: len(operands)])))


def _flags(operation: OperationExercise, flags: Sequence[frozenset[str]]) -> frozenset[str]:
    """Known properties of the numbers of a result."""
    own = _numbers(operation, flags) - {"free"}
    # A sum moves with that of its terms which is free; the other one's gradient still says nothing.
    kept = operation.gives == "=" or operation.rule in SUMS or operation.family == "layout"
    return own | {"free"} if not operation.settles and (not kept or all("free" in flag for flag in flags)) else own


def _numbers(operation: OperationExercise, flags: Sequence[frozenset[str]]) -> frozenset[str]:
    if operation.gives == "=":
        return flags[operation.walk] - ({"wide"} if operation.reduces else set())
    if operation.other:
        positive = operation.name != "sub" and all("positive" in flag for flag in flags)
        return frozenset({"positive"} if positive else {"signed"} & flags[0] & flags[1])
    given = frozenset(operation.gives.split())
    # A curve of what has one sign has one sign, too.
    return given & (flags[0] | {"positive", "tame"}) if operation.family == "activation" else given


def _item(draft: ProgramBuilder, level: int, seed: int, wanted: str, within: tuple[str, ...]) -> GeneratedItem:
    lines = backward_lines(draft.steps)
    named = " ".join(draft.inputs) + " ".join(step.text for step in draft.steps)
    dims = ", ".join(f"{name}: {size}" for name, size in DIMS.items() if re.search(rf"(?<![.\w]){name}\b", named))
    head = f":dims: {{{dims}}}\n:inputs: {{{', '.join(draft.inputs)}}}\n:output: {draft.steps[-1].name}\n"
    return GeneratedItem(
        version=VERSION,
        level=level,
        seed=seed,
        wanted=wanted,
        within=within,
        forward=head + "".join(f"{step.text}\n" for step in draft.steps),
        solution="".join(f"{line}\n" for line, _ in lines),
        by=tuple(operation for _, operation in lines),
        operations=tuple(step.operation.name for step in draft.steps),
        points=draft.points,
    )
