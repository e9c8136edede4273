"""Notations of numpy, micrograd, the blackboard and TeX, and what to write in torch: `phrases.toml`, and views of it.

Single signs that mean just one thing are read as that and stand in `lookalikes`; what is here is told.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any

from app.syntax import Expression, arguments_of, function_of, is_primary, options_of, parse_expression, source_text

_TABLE: Mapping[str, Any] = tomllib.loads(files("app").joinpath("phrases.toml").read_text(encoding="utf-8"))
LIBRARIES: frozenset[str] = frozenset(_TABLE["LIBRARIES"])
NAMES: Mapping[str, str] = _TABLE["NAMES"]
ATTRIBUTES: Mapping[str, str] = _TABLE["ATTRIBUTES"]
SIGN_NOTATIONS: Sequence[tuple[str, str]] = tuple((row["seen"], row["here"]) for row in _TABLE["SIGNS"])
"""What no line of Python holds, as a pattern, with what to write."""
NUMPY_FUNCTIONS: Mapping[str, str] = _TABLE["FUNCTIONS"]
KEYWORDS: Mapping[str, str] = _TABLE["KEYWORDS"]
"""By the name of an argument in numpy: its name in torch."""
_DEFAULTS: Mapping[str, Mapping[str, str]] = _TABLE["DEFAULTS"]
_ENGINE: Mapping[str, str] = _TABLE["ENGINE"]
_NUMBERS: Mapping[str, str] = {word: str(number) for word, number in _TABLE["NUMBERS"].items()}
_UNITS = re.compile(rf"(?<=[\w.)])\s{{1,9}}(?:{'|'.join(_TABLE['UNITS']['words'])})$", re.IGNORECASE)
_TURNED = re.compile(r"(\w+?)(?:_?T|_t|transposed?|_transposed?)")
_FACTOR = re.compile(r"d[A-Za-z]\w{0,20}|[A-GI-SU-Za-z]\d?")
"""A gradient, or a tensor of one letter, behind a full stop."""
_LONGEST = 200


def as_torch(source: str) -> str:
    """Translate *source*, an expression of numpy, to torch; empty if it has no translation."""
    try:
        node = parse_expression(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    called = function_of(node)
    name = source_text(called or node)
    library, _, function = name.partition(".")
    if library not in LIBRARIES or not function or len(source) > _LONGEST:
        return ""
    if called is None:
        return NUMPY_FUNCTIONS.get(function, "") if "{" not in NUMPY_FUNCTIONS.get(function, "") else ""
    operands = [_operand(argument) for argument in arguments_of(node)]
    form = NUMPY_FUNCTIONS.get(f"{function}/{len(operands)}") or NUMPY_FUNCTIONS.get(function)
    if form is not None and form.count("{") == len(operands) and not options_of(node):
        return form.format(*operands)
    given = {KEYWORDS.get(name, name): source_text(value) for name, value in options_of(node).items()}
    words = [f"{name}={text}" for name, text in (dict(_DEFAULTS.get(function, {})) | given).items()]
    arguments = [*map(source_text, arguments_of(node)), *words]
    return f"torch.{function}({', '.join(arguments)})" if form is None else ""


def _operand(node: Expression) -> str:
    text = source_text(node)
    return text if is_primary(node) else f"({text})"


def transposed_name(name: str, known: Collection[str]) -> str:
    """The name of which *name*, such as `xT`, is the transpose on paper; empty where there is none."""
    match = _TURNED.fullmatch(name)
    return match[1] if match is not None and match[1] in known else ""


def quotient_name(source: str, known: Collection[str]) -> str:
    """The gradient that *source*, such as `dL / dy`, means; empty where it is none."""
    match = re.fullmatch(r"d\w* / (d\w+)", source)
    return match[1] if match is not None and (match[1] in known or match[1][1:] in known) else ""


def attribute_words(owner: str, attribute: str, own: Collection[str]) -> str:
    """Say what to write for `owner.attribute`, which no box has; empty if it is of no known notation.

    Args:
        own: The attributes that the text at hand gives its own objects.
    """
    if _ENGINE.get(attribute) in own:
        what = {"made_from": "what a node was made from", "data": "the number that a node holds"}
        meant = _ENGINE[attribute]
        return f"{what.get(meant, 'it')} is called `{meant}` here, such as `{owner}.{meant}`"
    if own and _ENGINE.get(attribute) == "made_from":
        return (
            f"a node without a class is only a name. A dictionary has what it was made from, such as `graph[{owner}]`"
        )
    if attribute in ATTRIBUTES:
        return ATTRIBUTES[attribute]
    if _FACTOR.fullmatch(attribute) and re.fullmatch(r"[A-Za-z]\w{0,20}", owner):
        return f"a dot is no product. Write `{owner} * {attribute}`, or `@` between matrices"
    return ""


def plain_number(text: str) -> str:
    """*text* with a number that is written as a word in digits, and without the word of what is counted."""
    alone = _UNITS.sub("", text.rstrip())
    return _NUMBERS.get(" ".join(alone.lower().split()), alone)
