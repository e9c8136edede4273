"""Every slip in a backward rule, as another text of the rule: those with a sentence of their own, then every edit."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

import numpy as np

from app.grading.diagnosis.call_kinds import transpose_edits
from app.grading.diagnosis.edits import KINDS, Edit, edits
from app.grading.diagnosis.grammar import (
    EditVocabulary,
)
from app.grading.diagnosis.phrases import RULE, normalised_text, slips_of
from app.grading.operations.table import FUNCTIONS, OPERATIONS, RULES
from app.grading.reading.rules import PASSED_ON, names_of, terms_of
from app.syntax import is_binary, nodes_in

TWINS: Mapping[str, str] = {"min": "max", "std": "var"}
"""Operations with the sentences of another one."""
RIVALS = ("relu", "tanh", "sigmoid", "gelu", "gelu_tanh", "silu")
UNEDITED = PASSED_ON | {"matmul", "max", "min"}
"""Operations whose slips are not those of one text: products have a family of their own, the others nothing to edit."""
PLACES: Mapping[tuple[str, str], str] = {
    ("y", "x"): "input", ("x", "y"): "output", ("z", "y"): "other-output", ("z", "x"): "own",
    ("x", "z"): "other", ("y", "z"): "for-output",
}  # fmt: skip
DUMMY = np.zeros(1)


@dataclass(frozen=True, slots=True)
class RuleEdit:
    """Edit of a rule: *text* replaces the right one; *mentions* are words of rules that are new in it.

    *shows* is what else the learner's lines have to show, see `phrases.toml`.
    """

    text: str
    code: str
    say: str
    word: str = ""
    mentions: tuple[str, ...] = ()
    shows: str = ""


@cache
def slips_at(op: str, position: int, rule: str) -> tuple[RuleEdit, ...]:
    """Every slip at one operand of an operation, whose right rule is *rule*; those that teach most first."""
    right = {normalised_text(form) for form in (rule, *OPERATIONS[op].alike)}
    slips_by_text = {"g": _slip("local", "g", rule)} | {
        text: RuleEdit(text, row.code, row.say, mentions=_new_words(text, rule), shows=row.shows)
        for text, row in slips_of(TWINS.get(op, op), position).items()
    }
    forms = (replace(slip, mentions=()) for form in right for slip in _rule_edits(op, form))
    for slip in chain(_whole(op, normalised_text(rule)), _rule_edits(op, normalised_text(rule)), forms):
        slips_by_text.setdefault(slip.text, slip)
    return tuple(slip for text, slip in slips_by_text.items() if text not in right)


def _new_words(text: str, rule: str) -> tuple[str, ...]:
    new = names_of(text) - names_of(rule) | ({"z"} & names_of(text) if rule == "g * z" else set())
    return tuple(f"{{{word}}}" for word in sorted(new) if word in {"x", "y", "z"})


def _slip(kind: str, text: str, rule: str, word: str = "") -> RuleEdit:
    code, say = RULE[kind]
    return RuleEdit(normalised_text(text), code, say, word, _new_words(text, rule))


def _whole(op: str, rule: str) -> Iterator[RuleEdit]:
    """Edits that replace the whole local derivative."""
    terms = terms_of(op, rule)
    for word, term in terms.items():
        others = " + ".join(f"({text})" for name, text in terms.items() if name != word)
        yield _slip("term-missing", others, rule, word)
        yield _slip("term-sign", f"{others} - ({term})", rule, word)
    if op not in FUNCTIONS and op != "pow":
        return
    local = rule.replace("g * ", "", 1) if rule.startswith("g * ") else f"({rule}) / g"
    through = re.sub(r"\b[xy]\b", "g", local)
    if through != local:  # else the local derivative is a number, and nothing was put through it
        for text in (f"{op}(g)" if op in FUNCTIONS else "g ** p", through, f"g * ({through})"):
            yield _slip("of-upstream", text, rule, "{op}")
    yield _slip("squared", f"({rule}) * ({local})", rule)
    yield _slip("inverse", f"g / ({local})", rule)
    for word in ("y", "x") if op in FUNCTIONS and {"x", "y"} & names_of(local) else ():
        yield _slip("value", f"g * {word}", rule, f"{{{word}}}")
    for rival in RIVALS:
        if rival != op and op in FUNCTIONS and op not in {"exp", "log", "neg", "copy"}:
            shown = rival.replace("_", "-")
            yield _slip("rule", RULES[rival][0].replace("y", f"{rival}(x)"), rule, shown)
            yield _slip("rule", RULES[rival][0], rule, shown)


def _rule_edits(op: str, rule: str) -> Iterator[RuleEdit]:
    """Every edit of the grammar."""
    if op in UNEDITED:
        return
    root = ast.parse(rule, mode="eval")
    powers = [node.right for node in nodes_in(root) if is_binary(node, "**")]
    exponents = {node for power in powers for node in nodes_in(power)}
    places = {name: DUMMY for name in ("x", "y", "z") if name in _places(op)}
    functions = tuple(dict.fromkeys([*([op] if op in FUNCTIONS else []), "exp", "log", "tanh", "sigmoid"]))
    words = EditVocabulary(arrays=places, functions=functions)
    for edit in edits(root, words, [kind for kind in KINDS if kind is not transpose_edits]):
        text = normalised_text(ast.unparse(ast.fix_missing_locations(edit.root)))
        # A term of an exponent is none of the rule.
        kind, word = ("power", "") if edit.old in exponents else _kind(edit, op)
        if text != rule and kind in RULE and "g" in names_of(text):
            yield _slip(kind, text, rule, word)
        elif kind == "drop-factor" and not isinstance(edit.change.piece, ast.Name) and "g" not in names_of(text):
            yield _slip("part", text, rule)


def _places(op: str) -> str:
    return "xyz" if op in {"mul", "div", "maximum", "minimum", "mse_loss", "binary_cross_entropy_with_logits"} else "xy"


def _kind(edit: Edit, op: str) -> tuple[str, str]:
    change = edit.change
    match edit.old, change.new:
        case ast.Name(id=old), ast.Name(id=new) if change.kind == "name":
            return PLACES[old, new], ""
        case _, ast.Call(func=ast.Name(id=function), args=[inner]) if change.kind == "apply":
            # Of other functions the learner would have to think; the own one is easily taken twice.
            return "apply" if function == op and ast.unparse(inner) == "y" else "", op
        case _, ast.Call(func=ast.Name(id=function)) if change.kind == "function" and function == op:
            return "output", ""
    return change.kind, ""
