"""Finds the one small edit that makes the learner's lines right, and so the place of the slip.

The learner's text is read in numpy. Where that reading reproduces the learner's own tensor, every edit of the grammar
is tried; the first that gives the reference in all looks shows where the slip sits. The sentence names that place and
what kind of thing is wrong with it, never what belongs there.
"""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeGuard

from app.bindings import writes
from app.grading.diagnosis.call_kinds import (
    function_edits,
    insertion_edits,
    list_edits,
    repeat_edits,
    sum_edits,
    term_edits,
    unread_tensor_edits,
    whole_edits,
    window_edits,
)
from app.grading.diagnosis.edits import KINDS, Edit, edits
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.diagnosis.feeding_lines import in_line
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import (
    PRODUCTS,
    EditVocabulary,
    Kind,
    Replacement,
    comparison_edits,
    factor_removal_edits,
    floor_edits,
    name_edits,
    number_edits,
    operator_edits,
    removal_edits,
    sign_edits,
)
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.naming import ORDINALS
from app.grading.diagnosis.phrases import LINE, format_code, sentences_of
from app.grading.diagnosis.program_parts import is_part
from app.grading.diagnosis.rerun import Rerun, finished_steps, inside_of, line_replays, names_in, steps_made
from app.grading.diagnosis.statement_edits import statement_edits, turned_loops
from app.grading.reading.interpreter import COMPOUND
from app.syntax import as_written, called_name, is_binary, nodes_in

TRIES_MAX = 2500
TRIES_IN_LOOPS = 1500
SHOWN_MAX = 100
FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "sqrt", "square", "relu", "sign", "neg", "reciprocal", "cosh")

FUNCTIONS_IN_LOOPS = frozenset({"square", "sqrt"})
"""Those that are tried in a loop although no forward line has them."""

BESIDE = sentences_of("beside")
QUOTED = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Compare)
"""What may be quoted to say which of several places is meant."""
LEFT_OUT = frozenset({"drop-term", "drop-from"})
OTHERWISE = (factor_removal_edits, comparison_edits, number_edits, operator_edits)
"""What may be wrong with a condition apart from its tensors: then another one of these comes to the same by luck."""
PUT_IN = (function_edits, insertion_edits)
LIKELY = tuple(kind for kind in KINDS if kind not in PUT_IN)
"""What is put in has the most edits, and can make up for a slip in another line."""


def joins_matrices(node: ast.AST) -> bool:
    """True if *node* holds a matrix product."""
    return any(isinstance(inner, ast.MatMult) or called_name(inner) in PRODUCTS for inner in nodes_in(node))


def diagnose_single_edit(view: GradientAnalysis) -> Diagnosis | None:
    return mended_by(view, None)


def diagnose_floor_division(view: GradientAnalysis) -> Diagnosis | None:
    """A division that cuts the fraction off."""
    floored = any(is_binary(node, "//") for node in view.text.nodes)
    return mended_by(view, (floor_edits,)) if floored else None


def diagnose_missing_term(view: GradientAnalysis) -> Diagnosis | None:
    """A gradient, or what the forward lines read, that is missing as a term at one place of the lines."""
    others = view.case.other_gradients
    return mended_by(view, (term_edits, whole_edits(view.case.lines, others)))


def diagnose_unsummed_term(view: GradientAnalysis) -> Diagnosis | None:
    """A sum that is missing in one term or factor, where that spreads the whole over too many axes."""
    return None if view.shaped() else mended_by(view, (sum_edits,))


def diagnose_exchanged(view: GradientAnalysis) -> Diagnosis | None:
    """Another tensor, where a forward line reads this one in several places: the numbers do not tell which is meant."""
    statements = [path.statement for path in view.paths]
    if len(set(map(id, statements))) == len(statements) or is_mended(view, OTHERWISE):
        return None
    return mended_by(view, (name_edits,))


def diagnose_exchanged_part(view: GradientAnalysis) -> Diagnosis | None:
    """Another tensor, or a division for a product, at one place of the lines."""
    return mended_by(view, (name_edits, _product_edits))


def _product_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    yield from (edit for edit in operator_edits(node, words) if edit.kind == "multiply")


def diagnose_turned(view: GradientAnalysis) -> Diagnosis | None:
    """The transpose of a whole product, or of a whole call, that is right as it is; and a gradient as a fraction."""
    gradients = view.first_look.gradients
    kinds: list[Kind] = [_untransposed] if any(map(_turns_whole, view.text.nodes)) else []
    kinds += [_name_of_gradient] if any(is_fraction(node, gradients) for node in view.text.nodes) else []
    return mended_by(view, kinds) if kinds else None


def diagnose_erased(view: GradientAnalysis) -> Diagnosis | None:
    """A share that stands in the place of an earlier line's, where the two add up: in a part, or in a smaller shape."""
    if len(view.case.writes) < 2:
        return None
    with view.case.budget.one():
        reruns = view.once(line_replays)
        for at, line in enumerate(reruns[0].lines if reruns else ()):
            sentence = "erased"
            match line:
                case ast.Assign(value=ast.UnaryOp(op=ast.USub())):
                    continue  # `=-` is `-=`, and is told as that
                case ast.Assign(value=ast.UnaryOp(op=ast.UAdd())):
                    sentence = "plus-behind"
            match line:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)) as target], value=value):
                    pass
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if (
                    sentence == "plus-behind" or not view.shaped()
                ):
                    pass
                case _:
                    continue
            added = {at: ast.copy_location(ast.AugAssign(target, ast.Add(), value), line)}
            if name == view.case.name and all(rerun.is_right(rerun.with_lines(added)) for rerun in reruns):
                erased = view.case.told("overwritten", BESIDE[sentence], line=as_written(line))
                return in_line(view.case, erased, line)
    return None


def diagnose_copies(view: GradientAnalysis) -> Diagnosis | None:
    """Copies of the whole for copies of each entry, or one tensor for several parts: axes are right then."""
    copies = any(called_name(node) in {"repeat", "repeat_interleave"} for node in view.text.nodes)
    lists = any(isinstance(node, ast.List) for node in view.text.nodes)
    return mended_by(view, (repeat_edits, list_edits)) if copies or lists else None


def diagnose_window(view: GradientAnalysis) -> Diagnosis | None:
    """A slice between two places that is to lie beside them, before what it leaves out is said to be missing."""
    windows = any(isinstance(node, ast.Slice) and node.lower and node.upper for node in view.text.nodes)
    return mended_by(view, (window_edits,)) if windows else None


def _turns_whole(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.BinOp() | ast.Call(), attr="T" | "mT"):
            return True
    return False


def is_fraction(node: ast.AST, gradients: Collection[str]) -> TypeGuard[ast.BinOp]:
    """True of a gradient such as `dL / dy`, as it is written on paper."""
    match node:
        case ast.BinOp(left=ast.Name(id=above), op=ast.Div(), right=ast.Name(id=below)):
            return above != below and above in gradients and below in gradients
    return False


def _name_of_gradient(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    if is_fraction(node, words.gradients):
        yield Replacement("fraction", node.right)


def _untransposed(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if _turns_whole(node) and isinstance(node, ast.Attribute):
        yield Replacement("drop-turn", node.value)


def diagnose_condition(view: GradientAnalysis) -> Diagnosis | None:
    """Another tensor in a condition, or under a sign, or a sign in it: few entries tell it, and other slips as well."""
    conditions = [node for node in view.text.nodes if _decides(node)]
    names = [node for condition in conditions for node in nodes_in(condition) if isinstance(node, ast.Name)]
    # Where the tensor itself decides, it is the function of it that may be another one.
    places = {name for name in names if name.id != view.case.tensor}
    inside = {node for condition in conditions for node in nodes_in(condition)}
    mended = mended_by(view, [partial(_named_at, places), partial(_signed_at, inside)]) if places else None
    read = {name for path in view.paths for name in path.statement.inputs}
    foreign = any(name.id not in read for name in names)
    # One that the forward lines do not read is another one whatever else comes to the same.
    return None if mended is None or is_mended(view, OTHERWISE[:1] if foreign else OTHERWISE) else mended


def _decides(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) or called_name(node) in {"sign", "heaviside", "gt", "lt", "ge", "le"}


def _named_at(places: Collection[ast.AST], node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    if node in places:
        yield from name_edits(node, replace(words, sizes={}))


def _signed_at(places: Collection[ast.AST], node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    if node in places:
        yield from sign_edits(node, words)
        yield from (edit for edit in removal_edits(node, words) if edit.kind == "drop-minus")


def mended_by(view: GradientAnalysis, kinds: Sequence[Kind] | None) -> Diagnosis | None:
    """The slip that an edit of one of *kinds* mends; of all kinds where there are none."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        edit = next(_mending(reruns, kinds), None)
        if edit is None:
            return None
        line = reruns[0].line
        step = _of_a_step(view, reruns, LIKELY if kinds is None else kinds)
        return to_diagnosis(view, *(step or (line, edit)))


def _of_a_step(view: GradientAnalysis, reruns: Sequence[Rerun], kinds: Sequence[Kind]) -> tuple[ast.stmt, Edit] | None:
    """The edit of a step on the way that then holds what a part of the program does, and holds no part as it is.

    Such a step is where the slip is: an edit of what reads it only makes up for it.
    """
    steps = steps_made(reruns).items()
    doubtful = [at for at, arrays in steps if at != reruns[0].at and not is_part(view, arrays)]
    for edit in _mending(reruns, kinds, doubtful) if doubtful else ():
        (name,) = writes(reruns[0].line)
        made = [array for rerun in reruns if (array := rerun.made(edit, name)) is not None]
        if len(made) == len(reruns) and is_part(view, tuple(made)):
            return reruns[0].line, edit
    return None


def line_of_excess(view: GradientAnalysis) -> ast.stmt | None:
    """The line in which a minus or a number is too much: without it the gradient is right."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        return None if next(_mending(reruns, [_excess_edits]), None) is None else reruns[0].line


def _excess_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    for edit in removal_edits(node, words):
        if edit.kind == "drop-minus" or (edit.kind == "drop-factor" and isinstance(edit.piece, ast.Constant)):
            yield edit


def is_mended(view: GradientAnalysis, kinds: Sequence[Kind]) -> bool:
    """True if an edit of one of *kinds* makes the gradient right; also where the lines cannot be read again."""
    with view.case.budget.one():
        reruns = view.once(line_replays)
        return not reruns or next(_mending(reruns, kinds), None) is not None


def _mending(
    several: Sequence[Rerun], kinds: Sequence[Kind] | None, lines: Collection[int] | None = None
) -> Iterator[Edit]:
    """Edits that make every look right, of all lines or of *lines* alone."""
    return (edit for edit in _fitting_edits(several, kinds, lines) if all(rerun.mended(edit) for rerun in several[1:]))


def to_diagnosis(view: GradientAnalysis, line: ast.stmt, edit: Edit) -> Diagnosis:
    """The slip in *line* that *edit* mends."""
    assert isinstance(edit.root, ast.stmt)
    fault = _at_fault(line, edit.root)
    text = as_written(fault)
    if isinstance(fault, ast.For) and edit.old in nodes_in(fault.iter):
        text = f"for {as_written(fault.target)} in {as_written(fault.iter)}"
    shown = text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"
    change = edit.change
    nodes = {"old": edit.old, "new": change.new, "piece": change.piece or edit.old}
    texts = {word: as_written(node) for word, node in nodes.items()}
    fields = {
        **texts,
        "call": _call(edit.old),
        "side": BESIDE["side"] if edit.old is getattr(fault, "value", None) else f"`{texts['old']}`",
        "within": _within(fault, edit.old),
        "beside": BESIDE[_beside(fault, nodes["piece"], change.kind not in LEFT_OUT)].format(**texts),
    }
    # Without turns there is none in which something is the same.
    kind = "part" if change.kind == "step" and not isinstance(line, COMPOUND) else change.kind
    below = f"below-{kind}"
    code, say = LINE[below if below in LINE and _is_below(fault, edit.old) else kind]
    if _continues(view, edit):
        (code, say), fields["new"] = LINE["unread"], view.case.name
    message = f"In `{shown}`, {say.format(**fields)}."
    message = message if view.shaped() else f"{message} {wrong_shape(view.case)}"
    code = f"{view.case.name}:{format_code(code, fields)}"
    return in_line(view.case, Diagnosis(code=code, message=message), fault)


def _continues(view: GradientAnalysis, edit: Edit) -> bool:
    """True if the edit reads what an earlier line left in the gradient, where the line replaces it unread."""
    match edit.change.kind, edit.change.new:
        case ("name" | "gradient", ast.Name(id=name)) | ("put-factor", ast.BinOp(right=ast.Name(id=name))):
            return name == view.case.name
    return False


def _within(statement: ast.stmt, name: ast.AST) -> str:
    """Smallest part around *name* that is in *statement* once, if the name is there several times."""
    parts = [
        node for node in nodes_in(statement) if isinstance(node, QUOTED) or getattr(node, "attr", "") in {"T", "mT"}
    ]
    texts = [as_written(part) for part in parts]
    around = [text for part, text in zip(parts, texts, strict=True) if any(node is name for node in nodes_in(part))]
    if texts.count(as_written(name)) == 1:
        return ""
    alone = [text for text in around if texts.count(text) == 1 and len(text) <= SHOWN_MAX]
    if not alone:
        return ""
    part = next(part for part, text in zip(parts, texts, strict=True) if text == min(alone, key=len))
    alike = sorted((node for node in nodes_in(part) if ast.dump(node) == ast.dump(name)), key=_column)
    if len(alike) == 1 or len(alike) > len(ORDINALS):
        return BESIDE["within"].format(as_written(part))
    return BESIDE["among"].format(ORDINALS[next(at for at, node in enumerate(alike) if node is name)], as_written(part))


def _column(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _beside(statement: ast.stmt, piece: ast.AST, is_factor: bool) -> str:
    """Say where else *piece* is a factor, or a term: nowhere, beside itself, or elsewhere in *statement*."""
    text, alike = ast.dump(piece), (ast.Mult, ast.Div, ast.MatMult) if is_factor else (ast.Add, ast.Sub)
    rows = [_row(node, alike) for node in nodes_in(statement)]
    if any(sum(ast.dump(each) == text for each in row) > 1 for row in rows):
        return "again"
    sides = [ast.dump(node) for node in nodes_in(statement) if isinstance(node, ast.expr)]
    return "alone" if sides.count(text) == 1 else "apart"


def _row(node: ast.AST, alike: tuple[type[ast.operator], ...]) -> list[ast.AST]:
    """The operands that *node* joins by operators that are *alike*."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, alike):
        return [node]
    return [*_row(node.left, alike), node.right]


def _is_below(statement: ast.stmt, place: ast.AST) -> bool:
    """True if *place* is a factor of what *statement* divides by, where products divide and quotients multiply."""
    products = (dict(_factors(node, below=False)) for node in nodes_in(statement))
    return next((product[place] for product in products if place in product), False)


def _factors(node: ast.AST, *, below: bool) -> Iterator[tuple[ast.AST, bool]]:
    """*node* and every product and quotient that it is made of, and whether it is divided by."""
    yield node, below
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            yield from _factors(left, below=below)
            yield from _factors(right, below=below != isinstance(op, ast.Div))


def _call(node: ast.AST) -> str:
    """A call of a method without what it is called on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return as_written(ast.Call(ast.Name(node.func.attr), node.args, node.keywords))
    return as_written(node)


def _fitting_edits(
    several: Sequence[Rerun], kinds: Sequence[Kind] | None, lines: Collection[int] | None
) -> Iterator[Edit]:
    """The edits that make the first look right: of all lines the likely ones, then those that can hide another slip."""
    for likely in ((True, False) if kinds is None else (True,)) if several else ():
        rerun = several[0]
        right = rerun.view.once(_right_steps)
        for at in (each for each in rerun.candidates() if each not in right and (lines is None or each in lines)):
            for item in several:
                item.stand(at)
            for edit in _edits(rerun, likely) if kinds is None else edits(rerun.line, _words(rerun), kinds):
                if rerun.before[at].budget.is_empty:
                    return
                if not rerun.is_elsewhere(edit) and not _is_foreign(rerun.view, edit) and rerun.mended(edit):
                    yield edit


def _right_steps(view: GradientAnalysis) -> frozenset[int]:
    """Lines that make a right step: no slip is there."""
    return finished_steps(view, view.once(line_replays))


def _is_foreign(view: GradientAnalysis, edit: Edit) -> bool:
    """True if *edit* puts a matrix product where no forward line on the way has one, or takes all that arrives away.

    As well if it scales an end of a slice: beyond the end of an axis one place is as good as another.
    """
    if edit.change.kind.startswith("put-") and any(edit.old in ends for ends in view.once(_ends_of_slices)):
        return True
    if edit.change.kind in LEFT_OUT and isinstance(edit.change.piece, ast.Name):
        gradients = view.case.other_gradients
        return edit.change.piece.id in gradients and not names_in([edit.root]) & gradients
    lines = {path.statement for path in view.paths} | {step.statement for _, _, step in view.every_step()}
    return edit.change.kind == "matmul" and not any(map(joins_matrices, (line.node for line in lines)))


def _ends_of_slices(view: GradientAnalysis) -> Sequence[Collection[ast.AST]]:
    """The parts of each slice in the lines."""
    return [set(nodes_in(node)) for node in view.text.nodes if isinstance(node, ast.Slice)]


def _edits(rerun: Rerun, likely: bool) -> Iterator[Edit]:
    inside, words = isinstance(rerun.line, COMPOUND), _words(rerun)
    most = TRIES_IN_LOOPS if inside else TRIES_MAX
    if not likely:
        yield from islice(edits(rerun.line, words, PUT_IN), most)
        return
    # What was computed and is read nowhere was most likely forgotten here.
    unread = {name: array for name, array in words.arrays.items() if name in rerun.unread}
    if unread:
        yield from edits(rerun.line, replace(words, arrays=unread), (unread_tensor_edits,))
    yield from turned_loops(rerun.line)
    yield from islice(chain(edits(rerun.line, words, LIKELY), statement_edits(rerun.line, words)), most)


def _words(rerun: Rerun) -> EditVocabulary:
    """Vocabulary for edits of the line."""
    inside = isinstance(rerun.line, COMPOUND)
    seen = rerun.after if inside else rerun.before[rerun.at]
    arrays = {name: array for name, array in seen.arrays.items() if name != rerun.name or not inside}
    sizes = {name: number for name, number in seen.others.items() if isinstance(number, int | float)}
    parts = _parts_of(rerun.view) if not inside else ()
    names = {
        word.attr
        for path in rerun.view.paths
        for word in nodes_in(path.statement.node)
        if isinstance(word, ast.Attribute)
    }
    functions = (
        tuple(function for function in FUNCTIONS if function in FUNCTIONS_IN_LOOPS | names) if inside else FUNCTIONS
    )
    return EditVocabulary(
        arrays, rerun.look.gradients.keys(), sizes, parts, functions, _numbers_of(rerun.view), inverse=True
    )


def _parts_of(view: GradientAnalysis) -> tuple[ast.expr, ...]:
    """Parts of the forward lines that read the tensor."""
    parts = {}
    for path in view.paths:
        for node in nodes_in(path.statement.node):
            if isinstance(node, ast.BinOp | ast.Call):
                parts[ast.unparse(node)] = node
            if is_binary(node, "/"):
                square = ast.BinOp(node.right, ast.Pow(), ast.Constant(2))
                parts[ast.unparse(square)] = square
    return tuple(parts.values())


def _numbers_of(view: GradientAnalysis) -> tuple[float, ...]:
    """Numbers in the forward lines that read the tensor."""
    nodes = (node for path in view.paths for node in nodes_in(path.statement.node))
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(value for value in values if isinstance(value, float)))


def _at_fault(line: ast.stmt, edited: ast.stmt) -> ast.stmt:
    """The innermost statement of *line* that the edit changed."""
    while isinstance(line, COMPOUND) and isinstance(edited, COMPOUND):
        pairs = [(old, new) for old, new in zip(inside_of(line), inside_of(edited), strict=True) if old is not new]
        if len(pairs) != 1:
            break
        line, edited = pairs[0]
    return line
