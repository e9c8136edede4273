"""Errors of Python and torch for a wrong call, in the learner's words: one row per text, most specific first.

Such texts list whole signatures; what a learner needs is which call on the line is meant, and how it is written.
"""

import re
from difflib import get_close_matches

from app.grading.diagnosis.sentences import PAIRS
from app.grading.judge.run_reports import ReportedError, Row
from app.notations import KEYWORDS
from app.syntax import (
    Expression,
    function_of,
    indexed_of,
    is_binary,
    owner_of,
    parse_expression,
    sides_of,
    source_text,
    statements_of,
)

_SHAPED = "Give the sizes of the result, such as `{0}(3, 4)`; one of them may be -1."
_SUMMED = "`{0}()` takes in all entries, `{0}(0)` those along axis 0; several axes stand in one tuple, `{0}((0, 1))`."
_LISTED = "The tensors stand in one list, such as `{0}([A, B])`."
WRITTEN = {
    "transpose": (
        "It takes the two axes that change places, `.transpose(0, 1)`; for a matrix, `.T` does the same. With "
        "more axes `.mT` exchanges the last two, and `.permute(1, 2, 0)` puts each where it is wanted."
    ),
    "permute": "It takes every axis in its new place, such as `.permute(1, 0)`; for a matrix, `.T` does the same.",
    "reshape": _SHAPED.format(".reshape"),
    "view": _SHAPED.format(".view"),
    "expand": "Give the sizes of the result, such as `.expand(3, 4)`.",
    "unsqueeze": "It takes the place of the new axis, such as `.unsqueeze(0)`.",
    "softmax": "It takes a tensor and an axis, such as `F.softmax(x, 1)`.",
    "log_softmax": "It takes a tensor and an axis, such as `F.log_softmax(x, 1)`.",
    "one_hot": "It takes the indices and the number of classes, such as `F.one_hot(ix, 27)`.",
    "where": "It takes a mask and two tensors, such as `torch.where(mask, A, B)`.",
    "zeros": "It takes sizes, such as `torch.zeros(3, 4)`; `torch.zeros_like(x)` takes those of a tensor.",
    "ones": "It takes sizes, such as `torch.ones(3, 4)`; `torch.ones_like(x)` takes those of a tensor.",
    "matmul": "It takes the other factor; `A @ B` is the same.",
    "pow": "It takes an exponent, such as `.pow(2)`; `** 2` is the same.",
    "t": "For a matrix, `.T` does the same.",
    "index_add_": "It takes the axis, the places and what is added there, such as `dC.index_add_(0, ix, de)`.",
    "scatter_add_": "It takes the axis, a place for each entry, and the entries; `.index_add_` adds whole rows.",
    "size": "`.shape[0]` is the size of axis 0, `.numel()` the number of all entries.",
    "pad": "It takes two whole numbers for each axis, those of the last axis first, such as `F.pad(x, (1, 1))`.",
    "repeat": "It takes a number of times for every axis, such as `.repeat(1, 3)`; `.expand_as(y)` copies to a shape.",
} | {
    name: form.format(start + name)
    for form, start, names in [
        (_SUMMED, ".", ("sum", "mean", "std", "var", "prod", "amax", "amin")),
        (_LISTED, "torch.", ("cat", "stack", "concat", "hstack", "vstack")),
    ]
    for name in names
}
_AXES_OF_INDEX = {
    "self": f"is given an index with other axes than the tensor. {WRITTEN['scatter_add_']}",
    "src": "is given entries with other axes than the index: there is a place for each entry.",
    "input": "is given an index with other axes than the tensor: it has a place for each entry of the result.",
}
_METHODS = frozenset({"builtin_function_or_method", "method"})
NO_MATRIX = "is a single number, and `@` multiplies matrices: a number takes `*`, or a tensor is missing beside it."
OPTIONS = ("dim", "keepdim", "axis", "unbiased", "correction", "dtype")
_TAKEN = {
    "NoneType": "is `None`: was it given a value?",
    "builtin_function_or_method": "is a function that was not called; parentheses are missing, as in `x.sum()`.",
    "method": "is a function that was not called; parentheses are missing.",
    "function": "is a function that was not called; parentheses are missing.",
    "module": "is a module; write the function behind it, such as `torch.exp(x)` or `F.softmax(x, 1)`.",
    "torch.Size": "is a shape, not a tensor; a single size is `x.shape[0]`.",
    "tuple": "is a tuple of several values; take one of them, or unpack them.",
    "list": "is a list; `torch.tensor(…)` makes a tensor of it.",
}


def _lacking(match: re.Match[str], error: ReportedError) -> str:
    names = re.findall(r"""['"](\w+)['"]""", match[2])
    if match[1] in WRITTEN:
        lacks = ""
    elif names == ["input"]:
        lacks = "It takes the tensor to work on, between the parentheses."
    else:
        lacks = "Missing: " + ", ".join(f"`{name}`" for name in names) + "."
    return _describe_call(error, match[1], f"is given too little. {lacks}")


def _axes(match: re.Match[str], error: ReportedError) -> str:
    return (
        f"{_call(error, match[1])} names one axis only: the number after it is taken for `keepdim`. "
        f"Several axes stand in one tuple, such as `.{match[1]}((0, 1))`."
    )


def _option(match: re.Match[str], error: ReportedError) -> str:
    # Where torch lists several, some of them are right.
    options = re.findall(r"(\w{1,60})=", match[2]) or [match[2]]
    option = next((each for each in options if each not in OPTIONS), options[0])
    near = [] if option in OPTIONS else get_close_matches(option, OPTIONS, 1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    if option in KEYWORDS:
        hint = f" What is `{option}` in numpy is `{KEYWORDS[option]}` here."
    return f"{_call(error, match[1])}: `{match[1]}` does not take `{option}` here.{hint}"


def _describe_called(match: re.Match[str], error: ReportedError) -> str:
    """Say that the called object is no function."""
    node = _parse_source(error.source)
    called = function_of(node)
    what = "This" if called is None else f"`{source_text(called)}`"
    kind = match[1]
    if kind in {"module", "NoneType"}:
        return f"{what} {_TAKEN[kind]}"
    if owner_of(called) is not None:
        return f"{what} is no function but {a_kind(kind)} already: write it without the parentheses."
    return (
        f"{what} is {a_kind(kind)} and cannot be called like a function: was `*` or `@` forgotten before the "
        "parenthesis, or were square brackets meant?"
    )


def _describe_uncalled(_: re.Match[str], error: ReportedError) -> str:
    indexed = indexed_of(_parse_source(error.source))
    what = f"`{source_text(indexed)}`" if indexed is not None else "What stands before the bracket"
    return f"{what} is a function: call it with parentheses, such as `x.sum(0)`, not with square brackets."


def _operator(match: re.Match[str], error: ReportedError) -> str:
    """An operator that has no meaning for one of its sides."""
    operator, *kinds = match.groups()
    sides = _sides(error.source)
    at = next((place for place in (0, 1) if kinds[place] != "Tensor"), 1)
    kind = kinds[at]
    what = f"In `{error.source}`, `{sides[at]}`" if sides else f"At `{operator}`, the {('left', 'right')[at]} side"
    if kind in PAIRS:
        return f"{what} holds values and their places; take the values, `.values`."
    if operator.startswith("@") and kind in {"int", "float", "bool"}:
        return f"{what} {NO_MATRIX}"
    written = WRITTEN.get(sides[at].rpartition(".")[2], "") if sides else ""
    if kind in _METHODS and written:
        return f"{what} is a function that was not called. {written}"
    return f"{what} {_TAKEN.get(kind, f'is {a_kind(kind)}, which `{operator}` cannot take.')}"


def _vectors(match: re.Match[str], error: ReportedError) -> str:
    name = "dot" if match[0].startswith("1D") else "outer"
    return f"{_call(error, name)}: `{name}` takes two vectors, of one axis each; a product of matrices is `A @ B`."


def _square(_: re.Match[str], error: ReportedError) -> str:
    return f"{_call(error, 'inverse')} wants a square matrix. What a product sends back is no inverse but a transpose."


def _letter(match: re.Match[str], error: ReportedError) -> str:
    letter, size, _, before = match.groups()
    return (
        f"{_call(error, 'einsum')}: the letter `{letter}` stands for an axis of size {before}, and for one of {size}."
    )


def _describe_repeat(_: re.Match[str], error: ReportedError) -> str:
    return _describe_call(error, "repeat", "is given too little.")


def _places(_: re.Match[str], error: ReportedError) -> str:
    """A tensor times a tuple repeats the tuple."""
    index = re.search(r"\b(\w{1,40}\.(?:max|min|sort|median|topk|mode)\([^()]{1,60}\))\]", error.source)
    if index:
        return f"`{index[1]}` holds values and their places; an index wants the places, `{index[1]}.indices`."
    sides = [side for side in _sides(error.source) or () if re.search(r"\.(max|min|sort|median|topk|mode)\(", side)]
    if not sides:
        return "A tensor of several entries, or one of fractions, stands where a single whole number belongs."
    return f"`{sides[0]}` holds values and their places; take the values, `{sides[0]}.values`."


def _fractions(match: re.Match[str], error: ReportedError) -> str:
    return _describe_call(error, match[1], "is given fractions where it wants places.")


def _axes_of_permute(_: re.Match[str], error: ReportedError) -> str:
    return _describe_call(error, "permute", "names another number of axes than the tensor has.")


def _describe_count(match: re.Match[str], error: ReportedError) -> str:
    return (
        f"{_call(error, match[1])} is given {match[2]} places and {match[3]} slices along axis {match[4]}: each "
        "slice that is added has its place."
    )


def _describe_scatter(match: re.Match[str], error: ReportedError) -> str:
    return f"{_call(error, 'scatter_add_')} {_AXES_OF_INDEX[match[1]]}"


def _describe_unpacking(match: re.Match[str], _: ReportedError) -> str:
    names = "There is 1 name" if match[1] == "1" else f"There are {match[1]} names"
    values = f"{match[2]} value{'' if match[2] == '1' else 's'}" if match[2] else "more values"
    return f"{names} on the left of the `=`, and {values} on the right."


SINGLE_BITS = (
    "In Python `^` is no power, but works on single bits: a power is written `**`, such as `x ** 2`, and a transpose "
    "`.T`."
)


SIZED = frozenset({"reshape", "view", "expand", "repeat"})
"""Methods that take the sizes of the result."""


def _describe_letters(match: re.Match[str], _: ReportedError) -> str:
    """Say that `einsum` has letters for another number of tensors."""
    return (
        f"`einsum` is given {match[1]} tensors than there are groups of letters before its arrow. "
        "A comma separates the letters of two tensors, as in `ij,jk->ik`."
    )


def _describe_scores(match: re.Match[str], error: ReportedError) -> str:
    """Say that whole numbers are given where scores are taken."""
    if match[1] and "cross_entropy" in error.source:
        return "`F.cross_entropy` takes the scores first and the targets second; here whole numbers come first."
    return "A softmax takes scores, which are real numbers, and is given whole ones."


def _argument(match: re.Match[str], error: ReportedError) -> str:
    name, _, wanted, kind = match.groups()
    if wanted == "Tensor" and kind in {"int", "float"} and name not in WRITTEN:
        return f"{_call(error, name)} wants a tensor, not a plain number. Is one left out? For numbers there is `math`."
    return _describe_call(error, name, f"is given {a_kind(kind)} where it wants {a_kind(wanted)}.")


def _element(match: re.Match[str], error: ReportedError) -> str:
    name, kind = match.groups()
    return _describe_call(
        error, name, f"is given {'a fraction' if kind == 'float' else a_kind(kind)} among what should be whole numbers."
    )


def _padding(match: re.Match[str], error: ReportedError) -> str:
    axes = "one axis" if match[2] == "1" else f"{match[2]} axes"
    return _describe_call(error, "pad", f"is given {match[1]} numbers for {axes}.")


def _odd_padding(_: re.Match[str], error: ReportedError) -> str:
    return _describe_call(error, "pad", "is given an odd count of numbers.")


def _describe_narrowing(_: re.Match[str], error: ReportedError) -> str:
    return f"{_call(error, 'narrow')} takes away more than the axis has."


def _describe_fold(match: re.Match[str], error: ReportedError) -> str:
    return (
        f"{_call(error, 'fold')}: with these sizes the window has {match[1]} places, and {match[2]} are given. Are the "
        "size of the result, the padding and the stride those of the forward line?"
    )


def _describe_window(match: re.Match[str], error: ReportedError) -> str:
    return (
        f"{_call(error, 'fold')}: the columns hold {match[1]} numbers each, and a window of {match[2]} takes up "
        "another number of them. Is the window that of the forward line?"
    )


def _surplus(match: re.Match[str], error: ReportedError) -> str:
    if match[1] in SIZED and re.search("(?<!/)/(?!/)", error.source.rpartition(f".{match[1]}(")[2]):
        message = (
            "is given a fraction where it wants a size: `/` makes one of any two numbers. Is a division meant there?"
        )
        return _describe_call(error, match[1], message)
    return _describe_call(error, match[1], "is given too much.")


def _misfit(match: re.Match[str], error: ReportedError) -> str:
    given = f"cannot take `{match[2]}`." if match[2] != "()" else "is given too little."
    return _describe_call(error, match[1], given)


def _describe_call(error: ReportedError, name: str, message: str) -> str:
    """Say what is wrong with the call of *name*, and how it is written, if that is known."""
    return f"{_call(error, name)} {message.strip()} {WRITTEN.get(name, '')}".strip()


def _call(error: ReportedError, name: str) -> str:
    return f"`{error.source}`" if function_of(_parse_source(error.source)) is not None else f"`{name}`"


def a_kind(kind: str) -> str:
    """*kind*, the name of a Python type, as the learner would call it."""
    known = {
        "Tensor": "a tensor",
        "torch.Size": "a shape",
        "int": "a number",
        "float": "a number",
        "NoneType": "`None`",
    } | dict.fromkeys(PAIRS, "values with their places, `.values` and `.indices`,")
    return known.get(kind, f"a {kind}" if kind.startswith("tuple of") else f"a Python `{kind}`")


def _sides(source: str) -> tuple[str, str] | None:
    expression, statements = _parse_source(source), statements_of(source)
    node = expression if is_binary(expression) else statements[0] if len(statements) == 1 else None
    sides = sides_of(node)
    return None if sides is None else (source_text(sides[0]), source_text(sides[1]))


def _parse_source(source: str) -> Expression | None:
    """The expression *source*; None where there is none, or where it was cut."""
    try:
        return parse_expression(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


CALLS: tuple[Row, ...] = (
    (r"^(\w+)\(\): argument 'keepdim' \(position \d+\) must be bool, not int", "axes", _axes),
    (r"^(\w+)\(\) received an invalid combination of arguments - got \((?:Tensor, )?int, int\)", "axes", _axes),
    (r"([\w<>]{1,80})\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)", "lacking", _lacking),
    (r"([\w<>]{1,80})\(\) got an unexpected keyword argument '(\w+)'", "option", _option),
    (
        r"^(\w+)\(\) received an invalid combination of arguments - got \(([^)]{0,150}?\w{1,60}=[^)\n]{0,150})",
        "option",
        _option,
    ),
    (r"^'([\w.]+)' object is not callable", "called", _describe_called),
    (r"^'(?:builtin_function_or_method|method|function)' object is not subscriptable", "uncalled", _describe_uncalled),
    (r"^unsupported operand type\(s\) for (\S+?):? '([\w.]+)' and '([\w.]+)'", "operator", _operator),
    (r"^1D tensors expected, but got|^outer: Expected 1-D argument", "vectors", _vectors),
    (r"^linalg\.inv: A must be batches of square matrices", "square", _square),
    (
        r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size (\d+)",
        "letter",
        _letter,
    ),
    (
        r"^(index_add_)\(\): Number of indices \((\d+)\) should be equal to \S+ \((\d+)\), for dim: (\d+)",
        "counted",
        _describe_count,
    ),
    (r"^(index_\w+)\(\): (?:Index is supposed to be a vector|Expected dtype int32)", "places", _fractions),
    (r"^permute\(sparse_coo\): number of dimensions", "permuted", _axes_of_permute),
    (r"^Index tensor must have the same number of dimensions as (self|src|input)", "scattered", _describe_scatter),
    (r"^Number of dimensions of repeat dims can not be smaller", "repeated", _describe_repeat),
    (r"^only integer tensors of a single element can be converted to an index", "places", _places),
    (r"^(?:too many|not enough) values to unpack \(expected (\d+)(?:, got (\d+))?\)", "unpacked", _describe_unpacking),
    (r"^einsum\(\): (more|fewer) operands were provided than specified", "lettered", _describe_letters),
    (r"^\"(log_)?softmax_\w+\" not implemented for '(?:Long|Int|Bool)'", "scores", _describe_scores),
    (r"^\"bitwise_xor_\w+\" not implemented for '(?:Float|Double)'", "power", SINGLE_BITS),
    (r"^(\w+)\(\): argument '(\w+)' \(position \d+\) must be (.+), not ([\w.]+)$", "argument", _argument),
    (r"^(\w+)\(\): argument '\w+' .{0,20}must be tuple of ints, but found .{0,20}type (\w+)", "element", _element),
    (r"^(\w+)\(\): argument '\w+' failed to unpack the object .{0,60}but got (\w+)", "element", _element),
    (r"^Padding length must be divisible by 2", "padding", _odd_padding),
    (r"^Padding length should .{0,60} but got padding length (\d+) and input of dimension (\d+)", "padding", _padding),
    (
        r"^Given output_size=.{0,200} sliding blocks .{0,60} = (\d+), but got input\.size\(\d\)=(\d+)",
        "folded",
        _describe_fold,
    ),
    (
        r"^Expected size of input's dimension 1 .{0,80} input\.size\(1\)=(\d+) and kernel_size=(\(.{3,20}\))",
        "folded",
        _describe_window,
    ),
    (r"^narrow\(\): length must be non-negative", "narrowed", _describe_narrowing),
    (
        r"([\w<>]{1,80})\(\) takes (?:.{1,40} positional arguments? but \d+ (?:was|were) given|no arguments)",
        "surplus",
        _surplus,
    ),
    (r"^(\w+)\(\) received an invalid combination of arguments - got (\([^)]*\))", "misfit", _misfit),
)
