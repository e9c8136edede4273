"""Undoing a slip in a rule in the learner's lines: if it is there, that makes the gradient right.

A slip is told from its rule by one part of the text: `y` in the place of `y ** 2`. Where the learner's lines hold a
part with the values of the one, it is given those of the other. What a slip leaves out stands nowhere: it may be put in
anywhere.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial

import numpy as np

from app.grading.diagnosis.claims import is_there
from app.grading.diagnosis.edits import Edit, replace_node
from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.gradient_analysis import SAME, GradientAnalysis
from app.grading.diagnosis.grammar import Replacement
from app.grading.diagnosis.phrases import normalised_text
from app.grading.diagnosis.rerun import Rerun, line_replays
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import magnitude
from app.grading.reading.node import KnownNodes, UntracedError
from app.grading.reading.rules import names_of
from app.syntax import name_node, nodes_in, parse_expression

Valued = Callable[[str, PathStep], Array | None]
Texts = tuple[str, str]
Place = tuple[GradientPath, int]
"""A step by its path and depth."""
Pair = tuple[Array, Array]
"""What belongs there and what stands there, on one look."""
Paired = Callable[[PathStep], tuple[Array | None, Array | None]]
Way = Callable[[Array, Array, Array], Array | None]
"""From what a part of a line holds, what belongs and what stands there: what to put in its place; None for nothing."""
Put = Callable[[Sequence[Array]], Sequence[Array]]
"""From what a part of a line holds, by look, to what to put in its place; empty for nothing."""
BELONGS = "_belongs"


def is_undone(view: GradientAnalysis, place: Place, texts: Texts, valued: Valued) -> bool:
    """True if a slip can be undone in the lines; also where they cannot be read again.

    Args:
        texts: The rule, and what stands for it.
        valued: The values of a text of rules at a step.
    """
    part = parted(*texts)
    tries: list[tuple[Texts, Way]] = [(part, _exchanged)]
    exponents = part[0].count("**") == part[1].count("**") == 1
    if len(part[0]) != len(part[1]) and not exponents:
        tries += [(part, _scaled), (part, _divided)]
    if len(part[1]) < len(part[0]) and not exponents:
        tries += [(part, _added), (texts, _added)]
    # What arrives is in a product, and no tensor of the program is that product by its name.
    apart = view.first_look.forward.keys() if "g" in names_of(part[1]) else ()
    puts = [_putting(view, place, partial(_value_pair, two, valued), way) for two, way in tries]
    is_lost = len(tries) > 1 and len(part[1]) < len(part[0])
    return not (is_lost and view.once(is_there)) and _makes_right(view, puts, apart)


def is_undone_everywhere(view: GradientAnalysis, places: Sequence[Place], texts: Texts, valued: Valued) -> bool:
    """True if a slip that was made at each of *places* can be undone in the lines, all of it at once; also as above.

    What is left out in several places stands nowhere: there the prediction alone speaks.
    """
    part = parted(*texts)
    if len(part[1]) < len(part[0]):
        return True
    several = [_putting(view, place, partial(_value_pair, part, valued), _exchanged) for place in places]
    whole = [put for put in several if put is not None]
    return _makes_right(view, [partial(_first, whole) if len(whole) == len(several) else None], singly=False)


def is_held(view: GradientAnalysis, place: Place, text: str, valued: Valued) -> bool:
    """True if a part of the lines holds the values of *text*, which a sentence says to stand there; also as above."""
    reruns = view.once(line_replays)
    put = _putting(view, place, partial(_value_pair, (text, text), valued), _exchanged)
    if not reruns or put is None:
        return True
    for at in reruns[0].candidates():
        for rerun in reruns:
            rerun.stand(at)
        known = _known_nodes(reruns)
        if len(known) < len(reruns):
            return True
        shared = [key for key in known[0] if all(key in each for each in known)]
        if any(put([each[key].value for each in known]) for key in shared):
            return True
    return False


def is_exchanged(view: GradientAnalysis, place: Place, paired: Paired) -> bool:
    """True if what belongs at a step, in the place of what stands there, makes the gradient right; also as above."""
    return _makes_right(view, [_putting(view, place, paired, _exchanged)])


def _value_pair(texts: Texts, valued: Valued, step: PathStep) -> tuple[Array | None, Array | None]:
    belongs, stands = (valued(text, step) for text in texts)
    return belongs, stands


def _putting(view: GradientAnalysis, place: Place, paired: Paired, way: Way) -> Put | None:
    """Replacement by *way* of a step's value; None if a look lacks the step, or no part has that value."""
    path, depth = place
    steps = [view.steps(path, rerun.look) for rerun in view.once(line_replays)]
    both = [paired(each[depth]) for each in steps if depth < len(each)]
    pairs = [(was, now) for was, now in both if was is not None and now is not None]
    return partial(_puts, way, pairs) if len(pairs) == len(steps) else None


def _puts(way: Way, pairs: Sequence[Pair], values: Sequence[Array]) -> Sequence[Array]:
    try:
        puts = [way(value, *pair) for value, pair in zip(values, pairs, strict=True)]
    except ValueError:
        return []  # shapes that do not go together
    whole = [put for put in puts if put is not None]
    return whole if len(whole) == len(puts) else []


def _first(puts: Sequence[Put], values: Sequence[Array]) -> Sequence[Array]:
    return next((edits for put in puts if (edits := put(values))), [])


def _makes_right(
    view: GradientAnalysis, puts: Sequence[Put | None], apart: Collection[str] = (), *, singly: bool = True
) -> bool:
    """True if one of *puts* makes the gradient right; also where one cannot be tried, or the lines cannot be read."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        whole = [put for put in puts if put is not None]
        if not reruns or len(whole) < len(puts):
            return True
        view.undone_in = next((line for line, right in _undoings(reruns, whole, apart, singly) if right), None)
        return view.undone_in is not None


def _undoings(
    reruns: Sequence[Rerun], puts: Sequence[Put], apart: Collection[str], singly: bool
) -> Iterator[tuple[ast.stmt, bool]]:
    """By line, way, and part but for names *apart*, and for all parts at once: whether it makes the gradient right."""
    # What a line of its own makes is looked at there.
    made = {name for names in reruns[0].written for name in names} - reruns[0].look.gradients.keys()
    apart = {*apart, *made}
    for at in reruns[0].candidates():
        for rerun in reruns:
            rerun.stand(at)
        known = _known_nodes(reruns)
        if len(known) < len(reruns):
            yield reruns[0].lines[-1], True  # what a loop holds is another in each turn
            return
        parts = (node for node in nodes_in(reruns[0].line) if not isinstance(node, ast.Name) or node.id not in apart)
        nodes = [node for node in parts if all(node in each for each in known)]
        for put in puts:
            each = [(node, put([item[node].value for item in known])) for node in nodes]
            fitting = [(node, arrays) for node, arrays in each if arrays]
            alone = [[item] for item in fitting] if singly else []
            for several in [*alone, fitting] if len(fitting) > 1 or not singly else alone:
                if reruns[0].before[at].budget.is_empty:
                    yield reruns[0].lines[-1], True
                    return
                yield reruns[0].line, bool(several) and _is_right(reruns, several)


def _known_nodes(reruns: Sequence[Rerun]) -> list[KnownNodes]:
    """By look the values of the parts of its line, by identity; without a look on which it cannot be read at once."""
    several: list[KnownNodes] = []
    for rerun in reruns if isinstance(reruns[0].line, ast.Assign) else ():
        known: KnownNodes = {}
        try:
            rerun.before[rerun.at].copy().run([rerun.line], known)
        except UntracedError:
            continue
        several.append(known)
    return several


def _is_right(reruns: Sequence[Rerun], several: Sequence[tuple[ast.AST, Sequence[Array]]]) -> bool:
    """True if the gradient is right on every look with *several* parts of its line replaced."""
    names = {node: f"{BELONGS}{rank}" for rank, (node, _) in enumerate(several)}
    line: ast.AST = reruns[0].line
    for node, _ in several:
        if any(inner is node for inner in nodes_in(line)):  # what stands inside of another part is gone with it
            line = replace_node(line, node, name_node(names[node]))
    edit = Edit(line, several[0][0], Replacement("", name_node(BELONGS)))
    for look, rerun in enumerate(reruns):
        scope = rerun.before[rerun.at].arrays
        put = {names[node]: arrays[look] for node, arrays in several}
        scope |= put
        try:
            if not rerun.mended(edit):
                return False
        finally:
            for name in put:
                del scope[name]
    return True


def _exchanged(value: Array, belongs: Array, stands: Array) -> Array | None:
    """Value to put in place of *stands*, of its opposite, or of one over it."""
    if value.size != stands.size:
        return None
    shape = np.broadcast_shapes(belongs.shape, stands.shape)
    wide = np.broadcast_to(belongs, shape)
    wide = wide.reshape(value.shape) if wide.size == value.size else wide
    for there, put in ((stands, wide), (-stands, -wide), (1 / stands, 1 / wide)):
        if _equal(value, there):
            return np.asarray(put)
    return None


def _equal(first: Array, other: Array) -> bool:
    a, b = (np.asarray(each, dtype=np.float64).ravel() for each in (first, other))
    return bool(magnitude(a - b) <= SAME * max(magnitude(b), 1e-300))


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
    node, other = map(parse_expression, (rule, slip))
    while (lower := _lower(node, other)) is not None:
        node, other = lower
    return normalised_text(ast.unparse(node)), normalised_text(ast.unparse(other))


def _lower(first: ast.expr, other: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The one pair of operands that differs; None where more than one does, or the operation."""
    match first, other:
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
