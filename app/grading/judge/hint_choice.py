"""Which of an author's hints fits a diagnosis: it speaks of the gradient at fault, and of the kind of its mistake.

Hints stand in the order in which they tell more and more, so of several that fit alike the first is the one.
"""

import re
from collections.abc import Collection, Mapping, Sequence

NAMED, KIND, TENSOR, ANOTHER = 2, 2, 1, -3
_TAG = re.compile(r"<[^>]*>")
_CODE = re.compile(r"<code[^>]*>(.*?)</code>", re.DOTALL)

_AXES = ("axis", "axes", "sum", "add", "copied", "copies", "row", "column", "broadcast", "keepdim")
_PLACES = ("shape", "transpos", "inner", "order", "place", "axes", "turn")
_SHARES = ("twice", "times", "both", "feeds", "path", "way", "share", "used", "moves", "add")
_SIGNS = ("minus", "sign", "subtract", "lower")
_SIZES = ("mean", "average", "divid", "entries", "size", "examples", "number of")
_ABOVE = ("upstream", "above", "arriv", "incoming")
_SLOPES = ("local", "derivative", "slope", "rule", "flat", "open")
_POWERS = ("power", "exponent", "square", "root", "constant")
_FACTORS = ("other", "factor", "input", "output", "divid", "multipl")
_PICKS = ("picked", "row", "several", "index", "position", "largest", "maximum", "one-hot", "place")
_BUDGETS = ("probabilit", "average", "budget", "one-hot", "row", "softmax")
_MEMORY = ("copy", "clone", "memory", "in place")

KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("wrong-axis", "mean", "mean-wrong-axis", "not-reduced", "one-slice", "slice-missing"), _AXES),
    **dict.fromkeys(("summed-all", "keepdim-lost", "keepdim-added", "not-expanded", "largest", "sum-missing"), _AXES),
    **dict.fromkeys(("transposed", "matmul-order", "transpose-extra", "transpose-missing", "shape"), _PLACES),
    **dict.fromkeys(("elementwise-not-matmul", "matmul-not-elementwise", "not-reshaped", "error"), _PLACES),
    **dict.fromkeys(("view-order", "permute-skipped", "axes-mixed", "axes-reversed"), _PLACES),
    **dict.fromkeys(("share-missing", "share-doubled", "share-factor", "overwritten", "several"), _SHARES),
    **dict.fromkeys(("statistics-constant", "crossed", "added", "steps-shifted", "order", "stale"), _SHARES),
    **dict.fromkeys(("sign", "share-sign", "term-sign", "argument-sign"), _SIGNS),
    **dict.fromkeys(("factor", "doubled", "halved", "bessel", "constant-missing", "size-hard-coded"), _SIZES),
    **dict.fromkeys(("upstream-missing", "wrong-upstream", "copied", "upstream-unchanged"), _ABOVE),
    **dict.fromkeys(
        ("local-missing", "local-twice", "other-rule", "gate-flipped", "gate-value", "step-too-far"), _SLOPES
    ),
    **dict.fromkeys(("power-coefficient", "power-not-lowered", "power-sign", "power-changed"), _POWERS),
    **dict.fromkeys(("epsilon-missing", "epsilon-changed", "square-missing", "square-extra"), _POWERS),
    **dict.fromkeys(("own-factor", "wrong-operand", "input-for-output", "output-for-input"), _FACTORS),
    **dict.fromkeys(("divided", "multiplied", "factor-extra", "factor-missing", "divided-by"), _FACTORS),
    **dict.fromkeys(("scatter-overwrite", "scatter-mean", "positions", "dense", "rows-shifted"), _PICKS),
    **dict.fromkeys(("wrong-index", "router-dense", "router-axis", "router-labels", "router-min"), _PICKS),
    **dict.fromkeys(("average-missing", "diagonal", "softmax-axis", "one-hot-missing", "weights-missing"), _BUDGETS),
    **dict.fromkeys(("probabilities-missing", "term-order", "unnormalised", "mean-for-sum"), _BUDGETS),
    **dict.fromkeys(("aliased", "expanded", "mutated"), _MEMORY),
}
"""By the row of a diagnosis code: beginnings of words that a hint about such a mistake has in it."""


def fitting_hint(hints: Sequence[str], name: str, code: str, required: Collection[str] = ()) -> int | None:
    """The index of the hint for the mistake *code* in *name*; None where none speaks of either.

    Args:
        hints: As HTML.
        required: All gradients of the box: a hint that is about another one does not fit.
    """
    scores = [_score(hint, name, code, required) for hint in hints]
    best = max(scores, default=0)
    return scores.index(best) if best > 0 else None


def row_of(code: str) -> str:
    """The row of a code: `mean` of `db:mean` and of `dX:through:db:mean`, `factor` of `dW:factor:N`."""
    _, _, rest = code.rpartition(":through:")[2].partition(":")
    return rest.split(":")[0].split("+")[0]


def _score(hint: str, name: str, code: str, required: Collection[str]) -> int:
    text = _TAG.sub("", hint)
    named = _has(text, name)
    score = NAMED if named else 0
    if not named and any(_has(text, other) for other in required if other != name):
        score += ANOTHER
    if any(_has(part, name[1:]) for part in _CODE.findall(hint)):
        score += TENSOR
    if any(re.search(rf"\b{re.escape(stem)}", text, re.IGNORECASE) for stem in KINDS.get(row_of(code), ())):
        score += KIND
    return score


def _has(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text) is not None
