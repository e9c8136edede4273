"""Slips as edits of rules, at every operation on every path of the tensor.

A slip predicts what the learner sends to an operand; the steps below and the other paths are taken as right. First come
the slips that have a sentence of their own (`phrases.toml`), then every other edit of the rule, then the rule with
another tensor of the program in one of the places that it reads.

Operands that are sums have slips of their own, see `operands`; `wrong-operand:T` is another tensor T.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from app.grading.diagnosis.brackets import bracket_edits
from app.grading.diagnosis.claims import (
    all_of,
    compares_right,
    has_gate,
    has_operator,
    is_unmended,
    operators_of,
    puts_through,
    raises_right,
    seen_in_product,
)
from app.grading.diagnosis.evidence import Array, Hypothesis, always
from app.grading.diagnosis.gradient_analysis import GradientAnalysis, Send
from app.grading.diagnosis.grammar import (
    factor_removal_edits,
    grouping_edits,
    name_edits,
    operator_edits,
    power_edits,
    removal_edits,
    sign_edits,
)
from app.grading.diagnosis.naming import term_text
from app.grading.diagnosis.operands import other_operands, with_value
from app.grading.diagnosis.phrases import RULE, format_code, normalised_text
from app.grading.diagnosis.rule_slips import RuleEdit, slips_at
from app.grading.diagnosis.single_edit_search import is_mended
from app.grading.diagnosis.steps import PathStep
from app.grading.diagnosis.undoing import is_exchanged, is_held, is_undone, is_undone_everywhere
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import softmax
from app.grading.operations.table import FUNCTIONS, RULES
from app.grading.reading.node import is_broadcastable
from app.grading.reading.rules import axis_functions, evaluate_rule, joins_entries, names_of, rule_of

GATED = frozenset(op for op, texts in RULES.items() if re.search(r"[<>]|==|\bm\b", " ".join(texts)))
"""Operations whose rule compares or masks."""
OTHER_WAY = {RULE["divide"][1]: "multiply", RULE["multiply"][1]: "divide", RULE["turn-over"][1]: "turn-over"}
"""By what is said of an operator, the edit that makes it right."""


# What the texts of slips may read beyond the words of rules.


def _further(step: PathStep) -> dict[str, Any]:
    axes = step.node.options.get("axes")
    if axes is None:
        return {"whole": np.sum}
    others = [axis for axis in range(step.x.ndim) if (axis,) != tuple(axes)][-1:]
    aside = (others[0],) if others else axes
    extreme = np.max if step.node.op == "max" else np.min
    return {
        "O": partial(np.mean if step.node.op == "layer_norm" else np.sum, axis=aside, keepdims=True),
        "other": partial(softmax, axes=aside),
        "top": partial(np.max, axis=axes, keepdims=True),
        "low": partial(np.min, axis=axes, keepdims=True),
        "most": partial(extreme, axis=aside, keepdims=True),
        "whole": np.sum,
        "F": partial(np.cumsum, axis=axes[0]),
        "B": axis_functions(aside)["C"],
        "rows": _whole_rows,
    }


def _whole_rows(hot: Array) -> Array:
    """Ones in the rows that the labels number, as `p[t]` picks them."""
    labels = np.flatnonzero(hot.any(axis=0))
    rows = np.zeros((len(hot), 1))
    rows[labels] = 1.0
    return rows


def sender(view: GradientAnalysis, text: str) -> Send:
    """Function for what the rule *text* sends."""
    return partial(_send, view, text)


def _send(view: GradientAnalysis, text: str, step: PathStep) -> Array | None:
    words = {**view.meanings(step), **({} if _plain(text) else _further(step))}
    return evaluate_rule(text, words, step.node, step.position)


def _part_value(view: GradientAnalysis, text: str, step: PathStep) -> Array | None:
    """The values of a part of a rule; None where it is no such part."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(_send(view, text, step), dtype=np.float64)
    except (NameError, ValueError, TypeError):
        return None


@cache
def _plain(text: str) -> bool:
    return not names_of(text) & {"O", "other", "top", "low", "most", "whole", "F", "B", "rows"}


# Families.


def rule_edit_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """Every slip at every step."""
    for path, depth, step in view.places():
        yield from _at(view, path, depth, step)


def _at(view: GradientAnalysis, path: GradientPath, depth: int, step: PathStep) -> Iterator[Hypothesis]:
    rule = rule_of(step.node, step.position)
    for slip in slips_at(step.node.op, step.position, rule) if rule is not None else ():
        if slip.say == RULE["part"][1] and not step.is_root and not np.ptp(step.g):
            continue  # One number arrives at every entry: what is missing is a factor of the line.
        spot = view.spot(path, depth)
        word = slip.word.format(**spot)
        code, say = _code_and_sentence(view, slip, step, word)
        claim = partial(
            is_undone, view, (path, depth), (normalised_text(rule or ""), slip.text), partial(_part_value, view)
        )
        if code == RULE["group"][0]:
            claim = partial(is_mended, view, (grouping_edits, bracket_edits))
        elif say == RULE["open"][1]:
            claim = partial(all_of, claim, partial(compares_right, view))
        elif slip.say == RULE["of-upstream"][1]:
            through = partial(puts_through, view, step.look.gradients.keys())
            claim = partial(all_of, through, partial(is_unmended, view, (name_edits,)))
        elif slip.say in OTHER_WAY:
            # What may be left out altogether is a factor too many, also where another form of the rule divides by it.
            claim = partial(has_operator, view, {OTHER_WAY[slip.say]})
            claim = partial(all_of, claim, partial(is_unmended, view, (factor_removal_edits,)))
        elif slip.shows == "exponent":
            # Behind a `/` the exponent of the rule has the opposite sign by what divides.
            claim = partial(is_unmended, view, (operators_of({"multiply"}),))
            claim = partial(all_of, partial(is_mended, view, (power_edits,)), claim)
        elif slip.shows == "divides":
            claim = partial(all_of, claim, partial(is_unmended, view, (sign_edits, removal_edits)))
        elif slip.shows == "scaled":
            removed = partial(is_mended, view, (factor_removal_edits,))
            claim = partial(all_of, removed, partial(is_unmended, view, (name_edits,)))
        elif slip.shows == "held":
            claim = partial(all_of, claim, partial(is_held, view, (path, depth), "x", partial(_part_value, view)))
        claim = partial(all_of, claim, partial(raises_right, view))
        term = term_text(word, spot["row"])
        fields = {"word": word, "term": term}
        yield view.hypothesis_at_step(path, depth, code, sender(view, slip.text), say, slip.mentions, claim, **fields)
    (code, say), seen = RULE["upstream"], partial(seen_in_product, view, f"d{path.consumer}")
    say = say if step.is_root and not _is_reduced(step) else RULE["nothing"][1]
    yield view.hypothesis_at_step(path, depth, code, lambda step: step.of_ones, say, (), seen)
    plain = partial(is_unmended, view, (removal_edits, sign_edits, name_edits, operator_edits))
    for place, value, code, say in other_operands(step):
        send = partial(with_value, place=place, value=value)
        yield view.hypothesis_at_step(path, depth, code, send, say, (), plain if code == "operand-changed" else always)


def _code_and_sentence(view: GradientAnalysis, slip: RuleEdit, step: PathStep, word: str) -> tuple[str, str]:
    """The code and the sentence of a slip at a step of the learner's."""
    if slip.text == "g" and step.node.op in GATED and has_gate(view):
        return RULE["open"]
    if _is_summed(slip, step):
        return slip.code, RULE["summed"][1]
    if slip.say == RULE["local"][1] and joins_entries(rule_of(step.node, step.position) or ""):
        return slip.code, RULE["whole"][1]
    if slip.text == "z" and not _is_alone(step):
        return RULE["nothing"]
    if slip.say == RULE["value"][1] and not view.text.is_written(word):
        return slip.code, RULE["other-value"][1]
    return slip.code, slip.say


def _is_summed(slip: RuleEdit, step: PathStep) -> bool:
    """True if what is passed on has to be added up, so that it does not stay unchanged."""
    return slip.text == "g" and step.node.op in {"mul", "div"} and _is_reduced(step)


def _is_alone(step: PathStep) -> bool:
    """True if the step is the whole of its statement, so that what it lacks multiplies the line as it stands."""
    return step.is_root and not step.below and not _is_reduced(step)


def _is_reduced(step: PathStep) -> bool:
    """True if a factor belongs in front of a sum, and multiplies no result of it."""
    return step.g.shape != step.x.shape


def of_scope(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The rule of each step with another tensor of the program in one of the places that it reads."""
    for path, depth, step in view.places():
        rule = rule_of(step.node, step.position)
        # Of several places in a line the numbers do not tell one: that is for an edit of the learner's own line to say.
        several = sum(each.statement == path.statement for each in view.paths) > 1
        if rule is None or step.node.op == "matmul" or several:
            continue
        say = "`{name}` uses `{word}` where the rule for `{statement}` has `{place}`."
        for name, tensor in step.look.forward.items():
            if tensor.dtype.kind == "f" and tensor.ndim and is_broadcastable(step.g.shape, tensor.shape):
                for place, shown in _shown_places(step, rule).items():
                    if shown != name:
                        send = partial(_with_tensor, view, rule, place, name)
                        claim = partial(is_exchanged, view, (path, depth), partial(_two_of, view, place, name))
                        fields = {"word": name, "place": shown}
                        yield view.hypothesis_at_step(
                            path, depth, "wrong-operand:{word}", send, say, (name,), claim, **fields
                        )


def _shown_places(step: PathStep, rule: str) -> dict[str, str]:
    """Words of the rule for tensors, with their text; `f` is the output made of another input."""
    names, operands = names_of(rule), step.node.operands
    words = {"y": step.statement.outputs[0] if step.is_root else step.node.text} if "y" in names else {}
    words |= {"f": operands[0].text} if "y" in names and step.node.op in FUNCTIONS else {}
    words |= {"x": operands[step.position].text} if "x" in names else {}
    return words | ({"z": operands[1 - step.position].text} if "z" in names else {})


def _with_tensor(view: GradientAnalysis, rule: str, place: str, name: str, step: PathStep) -> Array:
    tensor, word = _in_place(place, name, step), "y" if place == "f" else place
    return evaluate_rule(rule, {**view.meanings(step), word: tensor}, step.node, step.position)


def _two_of(view: GradientAnalysis, place: str, name: str, step: PathStep) -> tuple[Array, Array]:
    """Right value at a place of the rule, and its value with another tensor."""
    return np.asarray(view.meanings(step)["y" if place == "f" else place]), _in_place(place, name, step)


def _in_place(place: str, name: str, step: PathStep) -> Array:
    tensor = np.asarray(step.look.forward[name], dtype=np.float64)
    base = step.node.operands[step.position]
    if place == "x" and base.op == "add" and step.node.op in {"pow", "sqrt", "rsqrt"}:
        tensor = tensor + sum(
            float(op_node.value) for op_node in base.operands if op_node.op == "number" and not op_node.value.ndim
        )
    return np.asarray(FUNCTIONS[step.node.op](tensor)) if place == "f" else tensor


def repeated_edit_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The same slip on every path of a tensor that feeds several lines, as a loop makes it."""
    seen, gated = set[str](), partial(compares_right, view)
    for path, depth, step in view.every_step() if len(view.paths) > 1 else ():
        rule = rule_of(step.node, step.position)
        if rule is None or f"{step.node.op} {rule}" in seen:
            continue
        seen.add(f"{step.node.op} {rule}")
        fields = view.spot(path, depth)
        for slip in slips_at(step.node.op, step.position, rule):
            word = slip.word.format(**fields)
            said = {**fields, "word": word, "term": term_text(word, fields["row"])}
            alike = partial(_is_alike, rule, step.node.op, slip.text == "g")
            ways = (any(map(alike, view.steps(other, view.first_look))) for other in view.paths)
            more = " The same holds on every way that `{tensor}` takes." if all(ways) else ""
            predict = partial(view.everywhere, alike, sender(view, slip.text))
            say = RULE["nothing"][1] if slip.text == "z" and not _is_alone(step) else slip.say
            claim = partial(all_of, partial(_is_throughout, view, alike, (normalised_text(rule), slip.text)), gated)
            yield view.hypothesis(format_code(slip.code, said), predict, say + more, (), claim, **said)


def _is_throughout(view: GradientAnalysis, alike: Callable[[PathStep], bool], texts: tuple[str, str]) -> bool:
    """True if the slip *texts* stands in the lines for each path, at its first step that is *alike*."""
    look = view.first_look
    depths = ([at for at, step in enumerate(view.steps(path, look)) if alike(step)] for path in view.paths)
    places = [(path, matching[0]) for path, matching in zip(view.paths, depths, strict=True) if matching]
    return is_undone_everywhere(view, places, texts, partial(_part_value, view))


def _is_alike(rule: str, op: str, any_curve: bool, step: PathStep) -> bool:
    same = step.node.op == op and rule_of(step.node, step.position) == rule
    return same or (any_curve and op in FUNCTIONS and step.node.op in FUNCTIONS)
