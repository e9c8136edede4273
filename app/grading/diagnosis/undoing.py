"""Whether a slip in a rule stands in the learner's lines: undone there, it makes the gradient right.

A slip is told from its rule by one part of the text: `y` in the place of `y ** 2`. Where the learner's lines hold a
part with the values of the one, it is given those of the other. What a slip leaves out stands nowhere: it may be put in
anywhere.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial

import numpy as np

from app.grading.diagnosis import mend
from app.grading.diagnosis.case_view import SAME, CaseView
from app.grading.diagnosis.edits import Edit, replaced
from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.grammar import Change
from app.grading.diagnosis.phrases import normal
from app.grading.diagnosis.rerun import Rerun
from app.grading.diagnosis.steps import Step
from app.grading.forward.statements import Path
from app.grading.reading.node import Node, UntracedError
from app.grading.reading.rules import names_of

Valued = Callable[[str, Step], Array | None]
Texts = tuple[str, str]
Pair = tuple[Array, Array]
"""What belongs there and what stands there, on one look."""
Paired = Callable[[Step], tuple[Array | None, Array | None]]
Way = Callable[[Array, Array, Array], Array | None]
"""From what a part of a line holds, what belongs and what stands there: what to put in its place; None for nothing."""
BELONGS = "_belongs"


def is_undone(view: CaseView, path: Path, depth: int, texts: Texts, valued: Valued) -> bool:
    """Whether a slip can be undone in the lines; also where they cannot be read again.

    Args:
        texts: The rule, and what stands for it.
        valued: The values of a text of rules at a step.
    """
    part = parted(*texts)
    tries: list[tuple[Texts, Way]] = [(part, _exchanged)]
    if len(part[0]) != len(part[1]) and not part[0].count("**") == part[1].count("**") == 1:
        tries += [(part, _scaled), (part, _divided)]
    if len(part[1]) < len(part[0]):
        tries += [(part, _added), (texts, _added)]
    ways = [(partial(_paired, two, valued), way) for two, way in tries]
    # What arrives is in a product, and no tensor of the program is that product by its name.
    apart = view.case.looks[0].forward.keys() if "g" in names_of(part[1]) else ()
    return _makes_right(view, path, depth, ways, apart)


def is_exchanged(view: CaseView, path: Path, depth: int, paired: Paired) -> bool:
    """Whether what belongs at a step, in the place of what stands there, makes the gradient right; also as above."""
    return _makes_right(view, path, depth, [(paired, _exchanged)])


def _paired(texts: Texts, valued: Valued, step: Step) -> tuple[Array | None, Array | None]:
    belongs, stands = (valued(text, step) for text in texts)
    return belongs, stands


def _makes_right(
    view: CaseView, path: Path, depth: int, ways: Sequence[tuple[Paired, Way]], apart: Collection[str] = ()
) -> bool:
    with view.case.budget.one():
        found = view.once(mend.reruns)
        steps = [view.steps(path, one.look) for one in found]
        if not found or any(depth >= len(each) for each in steps):
            return True
        tries = []
        for paired, way in ways:
            both = [paired(each[depth]) for each in steps]
            pairs = [(was, now) for was, now in both if was is not None and now is not None]
            if len(pairs) < len(both):
                return True
            tries.append((pairs, way))
        return any(_undoings(found, tries, apart))


def _undoings(
    found: Sequence[Rerun], ways: Sequence[tuple[Sequence[Pair], Way]], apart: Collection[str]
) -> Iterator[bool]:
    """By way and part, or all parts that hold the same, but for names *apart*: whether it makes the gradient right."""
    for at in found[0].candidates():
        for one in found:
            one.stand(at)
        known = [_known(one) for one in found]
        if not all(known):
            yield True  # what a loop holds is another in each turn
            return
        parts = (node for node in ast.walk(found[0].line) if not isinstance(node, ast.Name) or node.id not in apart)
        nodes = [node for node in parts if all(id(node) in each for each in known)]
        for pairs, way in ways:
            puts = [(node, _puts(way, [each[id(node)].value for each in known], pairs)) for node in nodes]
            fitting = [(node, put) for node, put in puts if put]
            for several in (*([one] for one in fitting), fitting if way is _exchanged else []):
                if found[0].before[at].budget.is_empty:
                    yield True
                    return
                yield bool(several) and _is_right(found, several)


def _puts(way: Way, values: Sequence[Array], pairs: Sequence[Pair]) -> list[Array]:
    """What to put in the place of a part by look; empty where it is none to be replaced."""
    try:
        puts = [way(value, *pair) for value, pair in zip(values, pairs, strict=True)]
    except ValueError:
        return []  # shapes that do not go together
    whole = [put for put in puts if put is not None]
    return whole if len(whole) == len(puts) else []


def _known(rerun: Rerun) -> Mapping[int, Node]:
    """What the parts of its line hold, by identity; nothing where the line cannot be read at once."""
    known: dict[int, Node] = {}
    if not isinstance(rerun.line, ast.Assign):
        return known
    try:
        rerun.before[rerun.at].copy().run([rerun.line], known)
    except UntracedError:
        return {}
    return known


def _is_right(found: Sequence[Rerun], several: Sequence[tuple[ast.AST, Sequence[Array]]]) -> bool:
    """Whether the gradient is right on every look with *several* parts of its line replaced."""
    names = {id(node): f"{BELONGS}{rank}" for rank, (node, _) in enumerate(several)}
    line: ast.AST = found[0].line
    for node, _ in several:
        if any(one is node for one in ast.walk(line)):  # what stands inside of another part is gone with it
            line = replaced(line, node, ast.Name(names[id(node)], ast.Load()))
    edit = Edit(line, several[0][0], Change("", ast.Name(BELONGS, ast.Load())))
    for look, rerun in enumerate(found):
        scope = rerun.before[rerun.at].arrays
        put = {names[id(node)]: arrays[look] for node, arrays in several}
        scope |= put
        try:
            if not rerun.mended(edit):
                return False
        finally:
            for name in put:
                del scope[name]
    return True


def _exchanged(value: Array, belongs: Array, stands: Array) -> Array | None:
    """What belongs there, for what stands there, for its opposite, or for one over it."""
    if value.size != stands.size:
        return None
    shape = np.broadcast_shapes(belongs.shape, stands.shape)
    wide = np.broadcast_to(belongs, shape)
    wide = wide.reshape(value.shape) if wide.size == value.size else wide
    for there, put in ((stands, wide), (-stands, -wide), (1 / stands, 1 / wide)):
        if _equal(value, there):
            return np.asarray(put)
    return None


def _equal(one: Array, other: Array) -> bool:
    a, b = (np.asarray(each, dtype=np.float64).ravel() for each in (one, other))
    return bool(np.abs(a - b).max(initial=0.0) <= SAME * max(float(np.abs(b).max(initial=0.0)), 1e-300))


def _scaled(value: Array, belongs: Array, stands: Array) -> Array | None:
    ratio = np.where((belongs == 0) & (stands == 0), 1.0, belongs / stands)
    return value * ratio if value.dtype.kind != "b" and np.isfinite(ratio).all() else None


def _divided(value: Array, belongs: Array, stands: Array) -> Array | None:
    return _scaled(value, stands, belongs)


def _added(value: Array, belongs: Array, stands: Array) -> Array | None:
    return np.asarray(value + (belongs - stands)) if value.dtype.kind != "b" else None


@cache
def parted(rule: str, slip: str) -> tuple[str, str]:
    """The smallest parts that tell two rules apart."""
    one, other = (ast.parse(text, mode="eval").body for text in (rule, slip))
    while (lower := _lower(one, other)) is not None:
        one, other = lower
    return normal(ast.unparse(one)), normal(ast.unparse(other))


def _lower(one: ast.expr, other: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The one pair of operands that differs; None where more than one does, or the operation."""
    match one, other:
        case ast.BinOp(op=ast.Pow(), right=p), ast.BinOp(op=ast.Pow(), right=q) if ast.dump(p) != ast.dump(q):
            return None
        case ast.BinOp(left=a, op=op, right=b), ast.BinOp(left=c, op=same, right=d) if type(op) is type(same):
            pairs = [(a, c), (b, d)]
        case ast.UnaryOp(operand=a), ast.UnaryOp(operand=c):
            pairs = [(a, c)]
        case ast.Compare(left=a, ops=[op], comparators=[b]), ast.Compare(left=c, ops=[same], comparators=[d]) if type(
            op
        ) is type(same):
            pairs = [(a, c), (b, d)]
        case ast.Call(func=f, args=[a]), ast.Call(func=h, args=[c]) if ast.dump(f) == ast.dump(h):
            pairs = [(a, c)]
        case _:
            return None
    apart = [pair for pair in pairs if ast.dump(pair[0]) != ast.dump(pair[1])]
    return apart[0] if len(apart) == 1 else None
