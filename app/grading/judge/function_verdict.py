"""The verdict on a learner's function or class: for each case what it gave, against what the author's gives.

Made outside of the jail. What comes from there is what untrusted code returned, read with suspicion.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from app.content.blocks import FunctionBox, FunctionCase
from app.grading.judge.run_reports import Array, ReportedError, as_list, parse_error
from app.grading.judge.slips.slip import VAGUE, Slip
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.unfit_answers import NUMBERS, argument_of_another, half_precision, object_for_number
from app.grading.judge.value_digest import value_digest
from app.grading.judge.verdict import DIFFERS, RIGHT, NameVerdict
from app.grading.operations.numerics import magnitude
from app.syntax import defined_name, is_class, parse_code

RTOL, ATOL = 1e-6, 1e-9
_SHOWN = 240
_DEEPEST = 32


class CaseResult:
    """Result of one case of a run: a tree of plain values, or the error that came instead."""

    def __init__(self, key: str, report: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        entry = report.get(key)
        said: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
        errors = [row for row in as_list(said.get("errors")) if isinstance(row, dict)]
        self.error: ReportedError | None = parse_error(errors[0]) if errors else None
        self.tree = _bounded(said.get("result"))
        self.fits = said.get("fits") is True  # what `expect` says, where this is a run of the author's
        self.arrays = {
            name.removeprefix(f"{key}/"): array for name, array in arrays.items() if name.startswith(f"{key}/")
        }

    def same_as(self, other: "CaseResult") -> bool:
        """True if both are equal up to rounding, or stopped with the same kind of error."""
        if self.error is not None or other.error is not None:
            return self.error is not None and other.error is not None and self.error.kind == other.error.kind
        return difference(self.tree, other.tree, self.arrays, other.arrays) == ""


def _bounded(tree: object, depth: int = 0) -> object:
    """*tree* without what is nested deeper than an honest one."""
    if not isinstance(tree, list):
        return tree
    return [_bounded(item, depth + 1) for item in tree] if depth < _DEEPEST else []


def names_of(box: FunctionBox) -> tuple[str, ...]:
    """Names of the cases, in file order: `case 1`, `case 2` …"""
    return tuple(f"case {number}" for number in range(1, len(box.cases) + 1))


HALF = "half-precision"
TURNED = "turned-round"
RAISED = "raised"
THE_CASE = "The case"
CHANGED_PLACES = "The two values that came back are right, and have changed places."
NOTHING = "It gave nothing back. Does every way through it end in a `return` with a value?"


def verdict_of(
    name: str,
    case: FunctionCase,
    own: CaseResult,
    reference: CaseResult,
    arguments: Mapping[str, Sequence[str]] = {},
) -> NameVerdict:
    """The verdict on one case.

    Args:
        own: What the learner's program gave; *reference*: what the author's gives.
        arguments: Of each function of the learner's program.
    """
    if own.error is not None:
        said = argument_of_another(own.error, arguments) or translate_error(own.error)
        return _wrong(name, case, RAISED, f"It stopped with an error. {said}", own, reference)
    fits = reference.fits if case.predicate else not difference(own.tree, reference.tree, own.arrays, reference.arrays)
    if fits:
        return NameVerdict(name=name, verdict="right", word="as it should be")
    said = NOTHING if own.tree == ["nothing"] else case.message
    if half := half_precision(own.tree, reference.tree):
        said = f"What came back is still in half precision, `{half}`; `.float()` makes 32 bits of its numbers."
        return _wrong(name, case, HALF, said, own, reference)
    if thing := object_for_number(own.tree, reference.tree):
        said = f"It gave a `{thing}` where a number is wanted. The number that it holds is in one of its attributes."
    elif are_turned(own, reference):
        return _wrong(name, case, TURNED, CHANGED_PLACES, own, reference)
    return _wrong(name, case, DIFFERS, said, own, reference)


def are_turned(own: CaseResult, reference: CaseResult) -> bool:
    """True if *own* is the pair of *reference* the other way round."""
    match own.tree:
        case ["list", [first, second]]:
            turned = ["list", [second, first]]
            return difference(turned, reference.tree, own.arrays, reference.arrays) == ""
    return False


def answers_digest(answers: Mapping[str, CaseResult]) -> bytes:
    """Digest of what a text gave on each case: one for all texts that give the same, however they are written."""
    digest = sha256()
    for name, case_result in sorted(answers.items()):
        ending = case_result.error.kind if case_result.error else _plain(case_result.tree, case_result.arrays)
        digest.update(json.dumps([name, ending]).encode())
    return digest.digest()


def _plain(tree: object, arrays: Mapping[str, Array]) -> object:
    """*tree* with its numbers to seven digits, and its tensors by what their numbers are."""
    match tree:
        case ["tensor", int(at), *_]:
            return value_digest({"": array}).hex() if (array := arrays.get(str(at))) is not None else None
        case [str(kind), _] if kind in NUMBERS:
            return f"{_number(tree):.6e}"
        case ["dict", list(items)]:
            return ["dict", sorted((_plain(item, arrays) for item in items), key=repr)]
        case list(items):
            return [_plain(item, arrays) for item in items]
    return str(tree)


def explained(
    names: Sequence[NameVerdict], declared: str, slips: Sequence[Slip], key: Callable[[], str]
) -> tuple[NameVerdict, ...]:
    """*names* with the reason at the first that is wrong, and none at the others: they may be wrong for the same one.

    Args:
        declared: The message of a declared mistake that gives just the same on every case; "" where there is none.
        slips: What was found in the text, in the order of its lines.
        key: Of what the text gave on all cases, for a mistake that neither of them names.
    """
    first = next((name_verdict for name_verdict in names if name_verdict.verdict not in RIGHT), None)
    if first is None:
        return tuple(names)
    if declared:
        told = replace(first, message=declared)
    elif slips and not _says_more(first, slips[0]):
        told = replace(first, message=slips_text(slips), line=slips[0].line)
    else:
        told = replace(first, key=f"{first.code}:{key()}" if (first.code or "").endswith(f":{DIFFERS}") else "")
    shown = (
        told
        if name_verdict is first
        else name_verdict
        if name_verdict.verdict in RIGHT
        else replace(name_verdict, message="")
        for name_verdict in names
    )
    return tuple(map(_labelled, shown))


def _says_more(verdict: NameVerdict, slip: Slip) -> bool:
    """True if what *verdict* has to say of a case is more than the sentence of *slip*."""
    telling = {HALF, RAISED, TURNED} if slip.kind == VAGUE else {HALF}
    return (verdict.code or "").rpartition(":")[2] in telling


def _labelled(verdict: NameVerdict) -> NameVerdict:
    """*verdict*, whose message may say already what the case is about: then its text needs no more than a label."""
    if not verdict.facts:
        return verdict
    (label, text), *rest = verdict.facts
    about = label.partition(": ")[2]
    return replace(verdict, facts=((THE_CASE, text), *rest)) if about in verdict.message else verdict


def slips_text(slips: Sequence[Slip]) -> str:
    """Describe *slips*: each after the first with its line."""
    first, *others = slips
    return " ".join([first.sentence, *(f"Line {slip.line}: {slip.sentence}" for slip in others)])


def _wrong(
    name: str, case: FunctionCase, code: str, message: str, own: CaseResult, reference: CaseResult
) -> NameVerdict:
    line = own.error.line if own.error else None
    # What the other sentences of a case say is about an answer: to an error they say nothing.
    about = case.message if own.error is None else case.message.partition(". ")[0].rstrip(".") + "."
    facts = [(f"{name.capitalize()}: {about}", case_text(case))]
    if own.error is None:
        facts += [("It gave", shown(own.tree, own.arrays))]
    label = "One that will do" if case.predicate else "Wanted"
    facts += [(label, shown(reference.tree, reference.arrays))]
    return NameVerdict(
        name=name,
        verdict="wrong",
        code=f"{name.replace(' ', '-')}:{code}",
        message=message,
        line=line,
        word="not as it should be",
        facts=tuple(facts),
    )


def case_text(case: FunctionCase) -> str:
    """The case as the author wrote it, without the function that judges it; classes and `_helpers` by their name."""
    lines: list[str | None] = list(case.code.source.rstrip().splitlines())
    for node in parse_code(case.code.source).body:
        end = node.end_lineno or node.lineno
        if defined_name(node) == "expect":
            lines[node.lineno - 1 : end] = [None] * (end - node.lineno + 1)
        elif is_class(node) or defined_name(node).startswith("_"):
            head = lines[node.lineno - 1] or ""
            lines[node.lineno - 1 : end] = [f"{head} …", *[None] * (end - node.lineno)]
    return "\n".join(line for line in lines if line is not None).strip()


def difference(
    own: object, reference: object, own_arrays: Mapping[str, Array], reference_arrays: Mapping[str, Array]
) -> str:
    """In which way *own* is not *reference*: `kind`, `shape`, `value`; empty where they agree."""
    if not isinstance(own, list) or not isinstance(reference, list) or not own or not reference:
        return "kind"
    match own, reference:
        case ["tensor", int(at), *_], ["tensor", int(to), *_]:
            return _apart(own_arrays.get(str(at)), reference_arrays.get(str(to)))
        case ["tensor", int(at), *_], [kind, _] if kind in NUMBERS:
            return _apart(own_arrays.get(str(at)), np.asarray(_number(reference)))
        case [kind, _], [other, _] if kind in NUMBERS and other in NUMBERS:
            return _apart(np.asarray(_number(own)), np.asarray(_number(reference)))
        case ["list", list(items)], ["list", list(others)]:
            return _each(items, others, own_arrays, reference_arrays)
        case ["dict", list(items)], ["dict", list(others)]:
            return _each(sorted(items, key=repr), sorted(others, key=repr), own_arrays, reference_arrays)
        case _:
            return "" if own == reference else "kind"


def _each(
    own: Sequence[object],
    reference: Sequence[object],
    own_arrays: Mapping[str, Array],
    reference_arrays: Mapping[str, Array],
) -> str:
    if len(own) != len(reference):
        return "shape"
    pairs = zip(own, reference, strict=True)
    return next(
        (text for item, two in pairs if (text := difference(_pair(item), _pair(two), own_arrays, reference_arrays))), ""
    )


def _pair(value: object) -> object:
    # An item of a dict is a pair of trees.
    return ["list", value] if isinstance(value, list) and value and isinstance(value[0], list) else value


def _apart(own: Array | None, reference: Array | None) -> str:
    if own is None or reference is None:
        return "kind"
    if own.shape != reference.shape:
        return "shape"
    array, two = own.astype(np.float64), reference.astype(np.float64)
    if not np.array_equal(np.isfinite(array), np.isfinite(two)):
        return "value"
    scale = magnitude(two[np.isfinite(two)])
    finite = np.isfinite(two)
    close = bool((np.abs(array[finite] - two[finite]) <= ATOL + RTOL * scale).all())
    return "" if close and np.array_equal(array[~finite], two[~finite], equal_nan=True) else "value"


def _number(tree: Sequence[object]) -> float:
    try:
        return float(str(tree[1])) if not isinstance(tree[1], bool) else float(tree[1])
    except ValueError:
        return float("nan")


def shown(tree: object, arrays: Mapping[str, Array]) -> str:
    """*tree* as a person writes it, cut to a bound."""
    text = _text(tree, arrays)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _text(tree: object, arrays: Mapping[str, Array]) -> str:
    match tree:
        case ["tensor", _, [("float16" | "bfloat16") as dtype, *sizes]]:
            return f"a tensor of shape {tuple(sizes)} in half precision, {dtype}"
        case ["tensor", int(at), *_]:
            array = arrays.get(str(at))
            if array is None:
                return "a tensor that could not be read"
            numbers = np.array2string(array, precision=4, threshold=32, edgeitems=3)
            return f"a tensor of shape {tuple(array.shape)}: {numbers}"
        case ["float", _]:
            return f"{_number(tree):.6g}"
        case ["int" | "bool", value]:
            return str(value)
        case ["text", value]:
            return repr(value)
        case ["nothing"]:
            return "nothing"
        case ["list", list(items)]:
            return f"[{', '.join(_text(item, arrays) for item in items[:40])}]"
        case ["dict", list(items)]:
            pairs = (item for item in items[:40] if isinstance(item, list) and len(item) == 2)
            return f"{{{', '.join(f'{_text(item, arrays)}: {_text(two, arrays)}' for item, two in pairs)}}}"
        case ["other", kind]:
            return f"a {kind}"
        case _:
            return "a value that cannot be read"
