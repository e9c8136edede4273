"""A program for a level, drawn from a seed: the same version, level, seed and wish give the same text.

A walk over tensors: each step applies an operation that fits to a tensor that is there, new inputs come as they are
needed, and what nobody reads is multiplied into the output.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from app.practice.backward import Step, Term, backward, summed, written
from app.practice.item import Item
from app.practice.operations import FORKS, OPERATIONS, TABLE, Operation
from app.practice.shapes import Form, Operand, Shape, broadcast, form_of, matched, shape_of

VERSION = 1
DIMS: Mapping[str, int] = {"N": 5, "D": 4, "H": 3, "K": 6, "T": 2}
LENGTHS: Mapping[int, tuple[int, int]] = {1: (2, 3), 2: (3, 5), 3: (6, 8)}
"""By level: how many lines the walk makes."""
FORKED: Mapping[int, tuple[int, int]] = {1: (0, 0), 2: (1, 2), 3: (2, 9)}
"""By level: how many tensors have several readers."""
BANDS: Mapping[int, tuple[int, int]] = {1: (1, 6), 2: (7, 16), 3: (17, 36)}
"""By level: the points of an exercise."""
FORK_POINTS, STRETCH_POINTS, INDEX_POINTS = 3, 2, 2
TRIES = 20_000
NAMES: Mapping[str, str] = {"": "WUVBCPQ", "vector": "bcgsw", "mask": "MR", "ints": "ij", "line": "hzuvaemqrpfkw"}


class NothingFitsError(ValueError):
    """No program of that level can be drawn from these operations."""


@dataclass(frozen=True, slots=True)
class Tensor:
    shape: Shape
    flags: frozenset[str]
    graded: bool = True


@dataclass(slots=True)
class Draft:
    """A program in the making."""

    chance: random.Random
    level: int
    inputs: list[str] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    stretched: int = 0
    indexed: int = 0

    def take(self, shape: Shape, kind: str = "", name: str = "") -> str:
        """A new input."""
        pool = NAMES.get(kind.partition("(")[0]) or NAMES["vector" if len(shape) == 1 else ""]
        name = name or self._free(pool)
        text = f"[{', '.join(shape)}]"
        drawn = kind if kind not in {"", "mask"} else ""
        self.inputs.append(f"{name}: {_quoted(text, drawn)}")
        flags = frozenset({"positive", "tame"} if kind == "positive" else {"signed", "tame"})
        self.tensors[name] = Tensor(shape, flags, graded=kind in {"", "positive"})
        self.indexed += kind.startswith("ints")
        return name

    def write(self, operation: Operation, text: str, tensor: Tensor) -> str:
        """A line; its terms follow."""
        name = self._free(NAMES["line"])
        self.tensors[name] = tensor
        self.steps.append(Step(name, f"{name} = {text}", operation.name, ()))
        return name

    def _free(self, pool: str) -> str:
        letters = self.chance.sample(pool, len(pool))
        numbered = (f"{pool[0]}{at}" for at in count(1))
        return next(one for one in (*letters, *(next(numbered) for _ in range(9))) if one not in self.tensors)

    @property
    def forks(self) -> int:
        return sum(self.read.count(name) > 1 for name in set(self.read) if self.tensors[name].graded)

    @property
    def points(self) -> int:
        own = sum(OPERATIONS[step.operation].points for step in self.steps)
        return own + FORK_POINTS * self.forks + STRETCH_POINTS * self.stretched + INDEX_POINTS * self.indexed


def _quoted(sizes: str, drawn: str) -> str:
    return f'"{sizes} {drawn}"' if drawn else sizes


def draw(level: int, seed: int, wanted: str = "", within: Sequence[str] = ()) -> Item:
    """The exercise of *level* that *seed* gives.

    Args:
        wanted: A row of the diagnosis that it has to be able to show; empty for any.
        within: Names of the operations that it may use; empty for all.

    Raises:
        NothingFitsError: No operation can show what is wanted, or *within* holds too little.
    """
    within = tuple(sorted(set(within)))
    table = [one for one in TABLE if one.level <= level and (not within or one.name in within)]
    if wanted and wanted not in FORKS and not any(wanted in one.shows for one in table):
        raise NothingFitsError(f"No operation of level {level} shows the slip {wanted!r}.")
    chance = random.Random(f"{VERSION}/{level}/{seed}/{wanted}/{' '.join(within)}")
    for _ in range(TRIES):
        draft = _walked(chance, level, table, wanted)
        if draft is not None and _is_meant(draft, level, wanted):
            return _item(draft, level, seed, wanted, within)
    raise NothingFitsError(f"No program of level {level} can be drawn from {', '.join(within) or 'all operations'}.")


def _is_meant(draft: Draft, level: int, wanted: str) -> bool:
    if wanted and wanted not in FORKS and not any(wanted in OPERATIONS[one.operation].shows for one in draft.steps):
        return False
    (low, high), (fewest, most) = BANDS[level], FORKED[level]
    return low <= draft.points <= high and fewest <= draft.forks <= most


def _walked(chance: random.Random, level: int, table: Sequence[Operation], wanted: str) -> Draft | None:
    draft = Draft(chance, level)
    draft.take(tuple(chance.sample([*DIMS][:4], 2)), name="X")
    weights = [one.weight * (6 if wanted in one.shows else 1) for one in table]
    length = chance.randint(*LENGTHS[level])
    for _ in range(6 * length):
        if len(draft.steps) == length:
            break
        _step(draft, chance.choices(table, weights)[0], _place(draft))
    if not _joined(draft) or not {one.partition(":")[0] for one in draft.inputs} <= set(draft.read):
        return None
    return draft


def _place(draft: Draft) -> str:
    """The tensor that goes on: most often the last one."""
    lines = [step.name for step in draft.steps]
    if not lines:
        return "X"
    return draft.chance.choice(lines) if draft.level > 1 and draft.chance.random() < 0.35 else lines[-1]


def _joined(draft: Draft) -> bool:
    """Brings what nobody reads together in the output; False where it does not fit."""
    while len(ends := [step.name for step in draft.steps if step.name not in draft.read]) > 1:
        left, right = ends[-1], ends[-2]
        shape = broadcast(draft.tensors[left].shape, draft.tensors[right].shape)
        if shape is None or "1" in shape:
            return False
        _apply(draft, OPERATIONS["mul"], None, (left, right), {"*": shape})
    return bool(draft.steps) and "1" not in draft.tensors[draft.steps[-1].name].shape and ends == [draft.steps[-1].name]


def _step(draft: Draft, operation: Operation, x: str) -> None:
    """Applies *operation* to *x*, if one of its forms fits."""
    tensor = draft.tensors[x]
    if not set(operation.needs.split()) <= tensor.flags:
        return
    form = form_of(draft.chance.choice(operation.shapes))
    sizes = matched(form.operands[operation.walk].axes, tensor.shape)
    if sizes is None:
        return
    if operation.other:
        _with_other(draft, operation, x)
        return
    fresh = [size for size in DIMS if size not in " ".join(tensor.shape)]
    draft.chance.shuffle(fresh)
    for letter in (one for operand in (*form.operands, Operand(form.output)) for one in operand.axes):
        if letter not in sizes and letter != "1":
            sizes[letter] = (fresh.pop(),)
    operands = [x if at == operation.walk else _new(draft, one, sizes) for at, one in enumerate(form.operands)]
    _apply(draft, operation, form, tuple(operands), sizes)


def _new(draft: Draft, operand: Operand, sizes: Mapping[str, Shape]) -> str:
    kind = re.sub(r"\((\w)\)", lambda found: f"({sizes[found[1]][0]})", operand.kind)
    return draft.take(_shape(operand.axes, sizes), kind)


def _shape(axes: tuple[str, ...], sizes: Mapping[str, Shape]) -> Shape:
    return shape_of(axes, sizes)


def _with_other(draft: Draft, operation: Operation, x: str) -> None:
    """A second tensor of the program that fits: this is what makes forks and residuals."""
    shape, divides = draft.tensors[x].shape, operation.name == "div"
    fitting = {
        name: wide
        for name, one in draft.tensors.items()
        if name != x and one.graded and (wide := broadcast(one.shape, shape)) is not None and "1" not in wide
        if not divides or "positive" in one.flags
    }
    if fitting:
        other = draft.chance.choice(list(fitting))
        _apply(draft, operation, None, (x, other), {"*": fitting[other]})


def _apply(
    draft: Draft, operation: Operation, form: Form | None, operands: tuple[str, ...], sizes: Mapping[str, Shape]
) -> None:
    tensors = [draft.tensors[one] for one in operands]
    axis = form.axis if form else None
    shape = _shape(form.output, sizes) if form else sizes["*"]
    letters = {letter: size[0] for letter, size in sizes.items() if letter.isalpha()}
    fields = {**letters, "axis": axis}
    text = operation.forward.format(*operands, **fields)
    flags = tensors[operation.walk].flags if operation.gives == "=" else frozenset(operation.gives.split())
    y = draft.write(operation, text, Tensor(shape, flags))
    draft.read += operands
    words = {key: one.format(*operands, **fields) for key, one in operation.words.items()}
    if axis is not None:
        words.setdefault("n", tensors[operation.walk].shape[axis])
    terms = []
    for at, rule in enumerate(operation.rules[: len(operands)]):
        other = operands[1 - at] if len(operands) > 1 else ""
        meant = {"g": f"d{y}", "x": operands[at], "z": other, "y": y, **words}
        rank = {"g": len(shape), "x": len(tensors[at].shape), "z": len(tensors[1 - at].shape) if other else 0}
        sent = written(rule, meant, rank, axis)
        terms.append(Term(operands[at], _fitted(draft, operation, rule, sent, (shape, at, tensors))))
    draft.steps[-1] = Step(y, draft.steps[-1].text, operation.name, tuple(terms))


def _fitted(
    draft: Draft, operation: Operation, rule: str, sent: str, shapes: tuple[Shape, int, Sequence[Tensor]]
) -> str:
    """What is *sent*, in the shape of the operand: summed where it was copied, copied where it was summed."""
    shape, at, tensors = shapes
    want = tensors[at].shape
    if (operation.back and len(tensors) == 1) or operation.name == "embedding":
        return sent
    if (operation.rule or operation.name) == "matmul":
        have = (*shape[:-2], *want[-2:])
    elif len(tensors) == 1:
        if shape != want and rule in {"g", "g / n"}:
            return f"{sent if sent.isidentifier() else f'({sent})'}.expand_as({_name(draft)})"
        return sent
    else:
        have = shape
    draft.stretched += have != want
    return summed(sent, have, want)


def _name(draft: Draft) -> str:
    return draft.read[-1]


def _item(draft: Draft, level: int, seed: int, wanted: str, within: tuple[str, ...]) -> Item:
    lines = backward(draft.steps)
    named = " ".join(draft.inputs) + " ".join(step.text for step in draft.steps)
    dims = ", ".join(f"{name}: {size}" for name, size in DIMS.items() if re.search(rf"\b{name}\b", named))
    head = f":dims: {{{dims}}}\n:inputs: {{{', '.join(draft.inputs)}}}\n:output: {draft.steps[-1].name}\n"
    return Item(
        version=VERSION,
        level=level,
        seed=seed,
        wanted=wanted,
        within=within,
        forward=head + "".join(f"{step.text}\n" for step in draft.steps),
        solution="".join(f"{line}\n" for line, _ in lines),
        by=tuple(operation for _, operation in lines),
        operations=tuple(step.operation for step in draft.steps),
        points=draft.points,
    )
