"""Torch's error texts in the learner's own names: one row per text, most specific first.

Every row takes what torch said and the operands of the operation that raised; what no row knows is passed on as it is.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import combinations, permutations, product

from app.content.text.sizes import format_shape
from app.grading.judge.call_errors import CALLS, NO_MATRIX, OPTIONS
from app.grading.judge.proposals import exchanged_indices
from app.grading.judge.python_functions import OWN_FUNCTIONS
from app.grading.judge.reshaped_sizes import describe_size
from app.grading.judge.run_reports import ErrorOperand, ReportedError, Row
from app.grading.judge.syntax_recovery import in_words
from app.grading.operations.table import FUNCTIONS
from app.notations import LIBRARIES, NAMES, NUMPY_FUNCTIONS, as_torch, quotient_name, transposed_name

_LONGEST = 400
_CONTAINERS = {
    "dict": ("a dictionary", "{}", "it grows by `names[key] = value`"),
    "list": ("a list", "[]", "it grows by `.append(…)`"),
    "set": ("a set", "set()", "it grows by `.add(…)`"),
}
_SPELLED = {"true": "True", "false": "False", "none": "None", "null": "None"}
FUNCTIONS_OF_F = frozenset(
    ["cross_entropy", "gelu", "layer_norm", "logsigmoid", "nll_loss", "one_hot", "silu", "softplus"]
)
_MADE = (
    "arange argmax cat clamp cumsum einsum eye full full_like log_softmax logsumexp matmul maximum mean minimum ones "
    "ones_like outer sign softmax stack tensor tril triu where zeros zeros_like"
)
FUNCTIONS_OF_TORCH = (frozenset(re.findall(r"\w+", _MADE)) | FUNCTIONS.keys()) - FUNCTIONS_OF_F - {"copy", "gelu_tanh"}
"""Functions whose name alone is written by those who know them from elsewhere."""
_HOT = re.compile(r"F\.one_hot\([\w.]{1,40}\)")
_REDUCED = re.compile(r"\.(?:sum|mean)\((?![^()]*keepdim)[^()]*\)$")
_TRANSPOSED = (".T", ".mT", ".t()", ".transpose(0, 1)")
MATRIX = 2


def translate_error(error: ReportedError) -> str:
    """Say what happened, in words that name the learner's operands."""
    for pattern, _, say in ROWS:
        match = re.search(pattern, error.text)
        if match is not None:
            return say(match, error) if callable(say) else _fill_text(say, match, error)
    text = error.text.splitlines()[0][:_LONGEST] if error.text else "no message"
    return f"{error.kind}: {text}"


def _fill_text(text: str, match: re.Match[str], error: ReportedError) -> str:
    """*text* of a row, with what torch said and what the learner wrote in its braces."""
    return text.format(
        match=match,
        shapes=[_tuple(group) for group in match.groups() if group.startswith("[")],
        tensor=_first(error, "{}", "The tensor"),
        of=_first(error, " of `{.source}`"),
        of_shaped=_first(error, " of {}"),
        within=f"In `{error.source}` a" if error.source else "A",
    )


def kind_of(error: ReportedError) -> str:
    """The word for *error* in a diagnosis code, such as `matmul` or `broadcast`."""
    return next((code for pattern, code, _ in ROWS if re.search(pattern, error.text)), error.kind)


def _describe_index(match: re.Match[str], error: ReportedError) -> str:
    last = "axis {match[2]}{of_shaped} has size {match[3]}, so the last index is size − 1."
    text = _fill_text(f"Index {{match[1]}} does not exist: {last}", match, error)
    exchanged = exchanged_indices(error.source)
    if exchanged and error.mends(error.source, exchanged):
        return f"{text} The two indices stand the other way round: rows come first, and columns behind the comma."
    return text


def _missing_function(match: re.Match[str], _: ReportedError) -> str:
    module = "F" if match[1].startswith("torch") else match[1]
    there = f"; `torch.{match[2]}` takes a tensor" if match[2] in FUNCTIONS_OF_TORCH else ""
    return f"There is no `{module}.{match[2]}`{there}."


def _two(error: ReportedError, fallback: str) -> str:
    return (
        " and ".join(str(error_operand) for error_operand in error.operands[:2])
        if len(error.operands) >= 2
        else fallback
    )


def _first(error: ReportedError, said: str, otherwise: str = "") -> str:
    """*said* of the first operand, whose `{}` it is; *otherwise* where torch did not say which one it was."""
    return said.format(error.operands[0]) if error.operands else otherwise


def _matmul(match: re.Match[str], error: ReportedError) -> str:
    rows, inner, other, columns = match.groups()
    pair = _two(error, f"({rows}, {inner}) and ({other}, {columns})")
    turned = any(error_operand.source.endswith(_TRANSPOSED) for error_operand in error.operands[:2])
    cure = "Write down the shape the result needs; which operand has to be transposed for it?"
    if turned or rows == columns or any(len(operand.shape) > MATRIX for operand in error.operands[:2]):
        cure = (
            "Write down the shape the result needs: in which order do the two stand for it, and is one of them "
            "transposed?"
        )
    if without := _fits_without_transpose(error):
        cure = f"Without the `.T` behind `{without}` they would match: is it one too many?"
    elif not is_mended_by_product(error):
        cure = "Write down the shape the result needs: do the two give it in any order, or is another tensor meant?"
    sizes = [{*map(str, operand.shape[-MATRIX:])} for operand in error.operands[:2]]
    if not set.intersection(*(sizes if len(sizes) == MATRIX else ({rows, inner}, {other, columns}))):
        cure = (
            "No transpose mends it: the two have no size in common. Is another tensor meant, or another shape of one?"
        )
    return (
        f"These shapes cannot be multiplied: {pair}. In a matrix product the inner sizes must match, and {inner} is "
        f"not {other}. {_describe_sum(error) or cure}"
    )


def is_mended_by_product(error: ReportedError) -> bool:
    """True if a matrix product of the two operands, in some order and with some transpose, makes the line right."""
    return any(error.mends(error.source, swapped) for swapped in _products(error))


def _fits_without_transpose(error: ReportedError) -> str:
    """The operand whose `.T` keeps two matrices from being multiplied, where no transpose of them is all that lacks."""
    if len(error.operands) != MATRIX or is_mended_by_product(error):
        return ""
    for turned, other in (error.operands, error.operands[::-1]):
        text = turned.source.removesuffix(".T")
        if text != turned.source and len(turned.shape) == len(other.shape) == MATRIX:
            rows, columns = turned.shape[::-1]
            if (rows == other.shape[1]) if turned is error.operands[1] else (columns == other.shape[0]):
                return text
    return ""


def _products(error: ReportedError) -> Iterator[str]:
    """The operands multiplied in either order, each as it stands or transposed, where their inner sizes match."""
    for first, second in permutations(error.operands[:2], 2):
        matrices = min(len(first.shape), len(second.shape)) >= MATRIX
        for turns in product(("", ".mT"), repeat=2):
            inner, outer = -2 if turns[0] else -1, -1 if turns[1] else -2
            if not matrices or first.shape[inner] == second.shape[outer]:
                yield f"({first.source}){turns[0]} @ ({second.source}){turns[1]}"


def _vector(match: re.Match[str], error: ReportedError) -> str:
    number = next((error_operand for error_operand in error.operands if not error_operand.shape), None)
    rule = "The inner sizes must match."
    ranks = [len(operand.shape) for operand in error.operands[:2]]
    if ranks == [1, 1]:
        rule = (
            "Between two vectors an `@` gives a single number, and a `.T` changes nothing. For a number of each pair "
            f"one is made a column, such as `{error.operands[0].source.removesuffix('.T')}[:, None]`, and multiplied "
            "with `*`."
        )
    if number is not None:
        rule = f"`{number.source}` {NO_MATRIX}"
    cure = _describe_sum(error) or rule
    return f"These shapes cannot be multiplied: {_two(error, match[0])}. {cure}{_describe_transpose(error)}"


def _describe_sum(error: ReportedError) -> str:
    """A sum beside a matrix product, which adds up along the inner axis by itself."""
    matches = (_REDUCED.search(error_operand.source) for error_operand in error.operands)
    reduced = next((match[0] for match in matches if match), "")
    return f"`{reduced}` takes an axis away before the product; a matrix product sums by itself." if reduced else ""


def _describe_transpose(error: ReportedError) -> str:
    """Say what `.T` does to more than two axes, if it is at the place of the error."""
    shapes = [error_operand.shape for error_operand in error.operands[:2]]
    for at, item in enumerate(error.operands[:2]):
        if item.source.endswith(".T") and len(item.shape) > MATRIX:
            meant = [_last_two_turned(shape) if rank == at else shape for rank, shape in enumerate(shapes)]
            cure = "; `.mT` exchanges the last two" if _fit(meant) else ""
            return f" In `{item.source}` the `.T` reverses all axes{cure}."
    return ""


def _last_two_turned(reversed_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with `.mT` of a tensor that has *reversed_shape* with `.T`."""
    *front, last, first = reversed_shape[::-1]
    return (*front, first, last)


def _fit(shapes: Sequence[tuple[int, ...]]) -> bool:
    """True if two tensors of *shapes* go together, entry by entry or as matrices."""
    if len(shapes) < 2:
        return False
    first, second = shapes
    matrices = min(len(first), len(second)) >= MATRIX and first[-1] == second[-2]
    return _broadcast_together(first, second) or (matrices and _broadcast_together(first[:-2], second[:-2]))


def _broadcast_together(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(one == other or 1 in {one, other} for one, other in pairs)


def _describe_stack(match: re.Match[str], _: ReportedError) -> str:
    return (
        f"`torch.stack` takes tensors of one shape: the first one has {_tuple(match[1])}, and number "
        f"{int(match[3]) + 1} has {_tuple(match[2])}."
    )


def _broadcast(match: re.Match[str], error: ReportedError) -> str:
    first, second, axis = match.groups()
    pair = _two(error, f"sizes {first} and {second}")
    if _is_matrix_product(error):
        return f"{pair} do not fit together entry by entry, with `*`: a matrix product, `@`, stands here in the rule."
    return (
        f"{pair} do not fit together: at axis {axis} one has {first} entries and the other {second}. "
        f"Shapes are compared from the right; an axis is copied only where its size is 1."
        f"{_describe_transpose(error)}{_row(error)}{_lost_axis(error)}{_classes(error)}{_pairs(error)}{_turned_share(error)}"
    )


def _lost_axis(error: ReportedError) -> str:
    """Say that a sum of a tensor with more axes than two has to keep its axis."""
    for item, other in (error.operands[:2], error.operands[1::-1]) if len(error.operands) > 1 else ():
        fewer = MATRIX <= len(item.shape) == len(other.shape) - 1
        if fewer and _REDUCED.search(item.source) and error.mends(item.source, f"{item.source[:-1]}, keepdim=True)"):
            return f" `{item.source}` has lost an axis; with `keepdim=True` it stays, with size 1."
    return ""


def _classes(error: ReportedError) -> str:
    """Say that `F.one_hot` takes the number of classes."""
    hot = next((one_hot[0] for operand in error.operands if (one_hot := _HOT.search(operand.source))), "")
    return (
        f" `{hot}` makes as many columns as the largest place needs; how many are wanted, stands behind it."
        if hot
        else ""
    )


def _pairs(error: ReportedError) -> str:
    """Say how each entry of one vector meets all of another."""
    if [len(operand.shape) for operand in error.operands] != [1, 1]:
        return ""
    for item, other in (error.operands, error.operands[::-1]):
        column = f"{_operand_text(item)}[:, None]"
        if error.mends(error.source, f"{column} * {_operand_text(other)}"):
            return (
                f" Does each entry of `{item.source}` meet all of `{other.source}`? Then `{column}` makes it a column."
            )
    return ""


def _turned_share(error: ReportedError) -> str:
    """Ask for a transpose where two shares are added that have each other's shape, the other way about."""
    if len(error.operands) != MATRIX or error.operands[0].shape != error.operands[1].shape[::-1]:
        return ""
    texts = [_operand_text(operand) for operand in error.operands]
    turns = ((f"{texts[0]} + {texts[1]}.mT", 1), (f"{texts[0]}.mT + {texts[1]}", 0))
    turned = next((at for text, at in turns if "+" in error.source and error.mends(error.source, text)), None)
    if turned is None:
        return ""
    return f" `{error.operands[turned].source}` is the share of a transpose: is it still to be transposed back?"


def _operand_text(operand: ErrorOperand) -> str:
    return operand.source if re.fullmatch(r"[\w.]+", operand.source) else f"({operand.source})"


def _is_matrix_product(error: ReportedError) -> bool:
    """True if two matrices that are multiplied entry by entry make the line right as a matrix product."""
    if len(error.operands) != MATRIX or any(len(error_operand.shape) < MATRIX for error_operand in error.operands):
        return False
    first, other = error.operands
    if first.shape[-1] != other.shape[-2] or not error.source.startswith(f"{first.source} *"):
        return False
    return error.mends(error.source, f"({first.source}) @ ({other.source})")


def _row(error: ReportedError) -> str:
    """Say how to make a column of numbers in a row, one for each row of the other operand."""
    for item, other in (error.operands[:2], error.operands[1::-1]) if len(error.operands) > 1 else ():
        if len(item.shape) != 1 or len(other.shape) != MATRIX or item.shape[0] != other.shape[0]:
            continue
        if item.dtype == "int64":
            return f" `{item.source}` holds places, one for each row; `F.one_hot` makes a row with a single 1 of each."
        cure, column = "With `keepdim=True` the axis stays.", f"{item.source[:-1]}, keepdim=True)"
        if not _REDUCED.search(item.source):
            column = f"{_operand_text(item)}[:, None]"
            cure = f"Then write `{column}`."
        if not error.mends(item.source, column):
            return ""
        return f" Is `{item.source}` meant as a column, one number for each row? {cure}"
    return ""


def _output_shape(match: re.Match[str], error: ReportedError) -> str:
    wanted, given = re.findall(r"\d+", match[1]), re.findall(r"\d+", match[2])
    place = next((operand for operand in error.operands[:2] if [*map(str, operand.shape)] == wanted), None)
    put = next((operand for operand in error.operands[:2] if operand is not place), None)
    target = f"`{place.source}`" if place else "The place on the left"
    question = _forgotten(error, put.source if put else "", wanted, given, short=":" in target.partition("[")[2])
    if put and (column := _column_text(put, wanted)) and error.mends(put.source, column):
        question = f"`{put.source}` has shape {_tuple(str(put.shape))}; `{column}` is without its axis of size 1."
    if len(given) > len(wanted) and given[len(given) - len(wanted) :] == wanted and "1" in given:
        question = "on the right an axis of size 1 is one too many, as `keepdim=True` leaves it."
    return (
        f"{target} has shape {_tuple(match[1])}, but what is put into it has shape {_tuple(match[2])}. A tensor cannot "
        f"grow in place: {question}"
    )


def _column_text(operand: ErrorOperand, wanted: Sequence[str]) -> str:
    """*operand* with a 0 for each axis of size 1, where that leaves the shape *wanted*; else empty."""
    if 1 not in operand.shape or [str(size) for size in operand.shape if size != 1] != [*wanted]:
        return ""
    return f"{_operand_text(operand)}[{', '.join('0' if size == 1 else ':' for size in operand.shape)}]"


def _forgotten(error: ReportedError, text: str, wanted: Sequence[str], given: Sequence[str], *, short: bool) -> str:
    """Ask what makes *text* too large for a place: a slice that is *short*, a sum, or an index that is missing."""
    question = ["is the slice on the left too short"] if short else []
    if any(error.mends(text, summed) for summed in _sums(text, wanted, given)):
        question.append("was a sum over an axis forgotten on the right")
    elif text.endswith("]") and len(given) > len(wanted):
        question.append(f"is an index missing in `{text}`")
    return f"{', or '.join(question)}?" if question else "what is put into it needs its shape."


def _sums(text: str, wanted: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    """The sums of *text*, whose shape is *given*, that have the shape *wanted*."""
    keeps = len(wanted) == len(given)
    for count in range(1, len(given) + 1):
        for axes in combinations(range(len(given)), count):
            left = [size if axis not in axes else "1" for axis, size in enumerate(given) if keeps or axis not in axes]
            if left == [*wanted]:
                yield f"({text}).sum({axes}, keepdim={keeps})"


def _describe_expand(match: re.Match[str], error: ReportedError) -> str:
    spread, over = (
        next((f" of `{one.source}`" for one in error.operands if format_shape(one.shape) == _tuple(shape)), "")
        for shape in (match[2], match[1])
    )
    return (
        f"Shape {_tuple(match[2])}{spread} does not spread over shape {_tuple(match[1])}{over}: an axis is copied only "
        "where its size is 1."
    )


def _added_rows(match: re.Match[str], error: ReportedError) -> str:
    own, source = format_shape(_sizes(match[1])), format_shape(_sizes(match[2]))
    target = _first(error, "`{.source}`", "the tensor")
    pairs = zip(reversed(_sizes(match[1])), _sizes(match[2]), strict=False)
    if sum(size != other for size, other in pairs) <= 1:
        return (
            f"What is added here has shape {source}, and {target} {own} lies on its side: was it made transposed above?"
        )
    return f"What is added here, {source}, and {target} {own} must have the same sizes but along the axis of the index."


def _reshape(match: re.Match[str], error: ReportedError) -> str:
    target = _first(error, "{}", "The tensor")
    entries, shape = f"{target} has {int(match[2]):,} entries", _tuple(match[1])
    if "-1" in match[1]:
        return f"{entries}, and shape {shape} cannot hold them: no whole number stands for -1 there."
    return f"{entries}, and shape {shape} holds another number of them.{describe_size(error, _sizes(match[1]))}"


def _one_hot(_: re.Match[str], error: ReportedError) -> str:
    target = _first(error, "; {0} is {0.dtype}")
    return f"`F.one_hot` needs integer indices (int64){target}."


def _one_number(_: re.Match[str], error: ReportedError) -> str:
    function, __, rest = error.source.partition("(")
    if function.startswith("math."):
        every = function.replace("math", "torch")
        return f"`{function}` takes a single number, and `{rest[:-1]}` is a tensor; `{every}` takes every entry of it."
    what = f"`{error.source}`" if error.source else "This line"
    return f"{what} wants a single number, and a tensor of several entries is none."


def _dtypes(match: re.Match[str], error: ReportedError) -> str:
    pair = " and ".join(f"`{error_operand.source}` is {error_operand.dtype}" for error_operand in error.operands[:2])
    whole = [error_operand.source for error_operand in error.operands[:2] if error_operand.dtype == "int64"]
    more = " `.to(torch.float32)` makes fractions of whole numbers." if whole else ""
    if whole and re.fullmatch(r"\w+(\.m?T)?", whole[0]):
        more = f" `{whole[0]}` holds places to look up, and no numbers to multiply: is another tensor meant?"
    return f"Both factors need the same type of number{': ' + pair if pair else f' ({match[0]})'}.{more}"


def _describe_truth(_: re.Match[str], error: ReportedError) -> str:
    if chosen := re.search(r"(?<![\w.])(max|min)\(", error.source):
        return (
            f"Python's `{chosen[1]}` picks one of its arguments as a whole, and a tensor has many entries. Entry by "
            f"entry it is `torch.{chosen[1]}imum` of two tensors; what is cut off at a number is `.clamp(…)`."
        )
    return "A tensor with several entries is neither true nor false. Use a mask, `torch.where`, or `.all()` / `.any()`."


def _cast(match: re.Match[str], error: ReportedError) -> str:
    target = _first(error, "`{.source}`", "The tensor on the left")
    stored, result = match[2].lower(), match[1].lower()
    return f"{target} holds {stored} numbers, and the result is {result}: it cannot be stored in place."


def _past(_: re.Match[str], error: ReportedError) -> str:
    place = re.fullmatch(r"([\w.]{1,60})\.shape\[(-?\d{1,9})\]", error.source)
    if place is None:
        what = f"`{error.source}`" if error.source else "An index in this line"
        return f"{what} asks for more than the tuple holds; the first entry has the index 0."
    return f"`{place[1]}` has no axis {place[2]}: `{place[1]}.shape` is shorter, and its first entry has the index 0."


def _no_name(match: re.Match[str], error: ReportedError) -> str:
    name = match[1]
    if sign := re.match(rf"{name}(?:\[.*\])? (==|<) ", error.source):
        return f"`{sign[1]}` compares, and `{name}` does not exist yet. One `=` assigns: `{name} = …`."
    if name in LIBRARIES:
        return _of_library(name, error.source)
    if name in error.ahead:
        return _not_yet(name, error)
    if name in _SPELLED:
        return f"Python writes `{_SPELLED[name]}`, with a capital letter; `{name}` means nothing to it."
    if name in OPTIONS:
        return f"`{name}` is an option and needs a value, such as `keepdim=True` or `dim=0`."
    if name in FUNCTIONS_OF_TORCH | FUNCTIONS_OF_F:
        return f"`{name}` alone does not exist: it is `{'F' if name in FUNCTIONS_OF_F else 'torch'}.{name}`."
    others = [
        text for text in error.known if text != f"d{name}" and name != f"d{text}"
    ]  # x and dx: nobody confuses them
    alike = [text for text in others if text.lower() == name.lower()]
    if meant := quotient_name(error.source, error.known):
        return f"`{''.join(error.source.split())}` is called `{meant}` here: a gradient is written without a fraction."
    if (meant := transposed_name(name, error.known)) and not alike:
        return f"`{name}` does not exist. The transpose of `{meant}` is `{meant}.T`."
    if name in NAMES and not alike:
        return f"There is no `{name}` in a box: {NAMES[name]}."
    if name[:1] == "d" and name[1:] in error.known and not alike:
        return f"`{name}` does not exist: no line makes it. A line `{name} = …` gives it a value."
    if alike := alike or get_close_matches(name, others, 1):
        case = "; capital and small letters count" if alike[0].lower() == name.lower() else ""
        return f"`{name}` does not exist at this point. `{alike[0]}` does{case}."
    if f"{name}(" in error.source:
        return (
            f"`{name}` does not exist in this box. No box takes over what another one defines: is it written there, "
            "further down, or spelled differently?"
        )
    return (
        f"`{name}` does not exist at this point. Is it written further down, or spelled differently? "
        "Capital and small letters count."
    )


def _describe_container(match: re.Match[str], error: ReportedError) -> str:
    """A list, a set or a dictionary, of which another one's method is called."""
    owner = re.search(rf"(\w{{1,40}})\.{match[2]}\b", error.source)
    kind, empty, grows = _CONTAINERS[match[1]]
    what = f"`{owner[1]}`" if owner else "What the line names"
    makes = " An empty set is made by `set()`." if (match[1], match[2]) == ("dict", "add") else ""
    return f"{what} is {kind}, such as `{empty}`, and has no `.{match[2]}`: {grows}.{makes}"


def _describe_attribute(match: re.Match[str], error: ReportedError) -> str:
    """A method of numpy, which tensors have under another name."""
    name = match[1]
    owner = re.search(rf"([A-Za-z_][\w.]{{0,40}})\.{name}\b", error.source)
    form = NUMPY_FUNCTIONS.get(name, "")
    meant = f" It is `{form.format(owner[1])}` here." if owner and form.count("{") == 1 else ""
    return f"A tensor has no `.{name}`.{meant}"


def _describe_dot(match: re.Match[str], _: ReportedError) -> str:
    """A dot of the blackboard: Python takes it for a letter of one long name."""
    first, second = match.groups()
    return f"Between entries a product is written `{first} * {second}` here, and of matrices `{first} @ {second}`."


def _of_library(name: str, source: str) -> str:
    meant = as_torch(source)
    if meant:
        return f"There is no `{name}` in a box. `{source}` is written `{meant}` here."
    return f"There is no `{name}` in a box. What it does, torch mostly does under the same name: `torch.…`."


def _not_yet(name: str, error: ReportedError) -> str:
    """Name that a line reads although it makes it itself, or a later line does."""
    line = error.ahead[name]
    if error.line is None or line > error.line:
        return (
            f"`{name}` does not exist yet: it is made in line {line}, further down. "
            "A line reads only what stands above it: is the order another one, or is something else meant there?"
        )
    if name in error.fresh:
        return f"`{name}` does not exist yet: it is what this line makes. Is something else meant where it is read?"
    like = name[1:] if name[:1] == "d" and name[1:] in error.known else "…"
    return (
        f"`{name}` does not exist yet: it is what this line makes. What is added to, or written into, begins above, "
        f"such as `{name} = torch.zeros_like({like})`; or is another name meant there?"
    )


def _tuple(text: str) -> str:
    return format_shape(_sizes(text))


def _sizes(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"-?\d+", text)]


def _syntax(match: re.Match[str], _: ReportedError) -> str:
    return f"This line is not Python yet: {in_words(match[1])}."


ROWS: tuple[Row, ...] = (
    (r"module '(math|torch\.nn\.functional)' has no attribute '(\w{1,40})'", "attribute", _missing_function),
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", "matmul", _matmul),
    (
        r"inconsistent tensor size|size mismatch, got input|Expected size for first two dimensions of batch2",
        "vector",
        _vector,
    ),
    (r"both arguments to (?:linear|matmul) need to be at least 1D", "vector", _vector),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        "broadcast",
        _broadcast,
    ),
    (
        r"stack expects .{0,60} but got (\[.{0,80}?\]) at entry 0 and (\[.{0,80}?\]) at entry (\d+)",
        "stacked",
        _describe_stack,
    ),
    (
        r"Negation, the `-` operator, on a bool tensor",
        "negated",
        "A minus stands in front of a mask, which holds true and false and no numbers. A mask multiplies as it is.",
    ),
    (
        r"(index_\w{1,40})\(\): Index is supposed to be a vector, but got dim: (\d+)\b(?! with type: (?:Float|Double))",
        "places",
        (
            "`{match[1]}` takes one list of places, but its index has {match[2]} axes. Flatten the index to one axis, "
            "and what is added to one row for each of its entries."
        ),
    ),
    (
        r"output with shape (\[.{0,80}?\]) doesn't match the broadcast shape (\[.{0,80}?\])",
        "output_shape",
        _output_shape,
    ),
    (
        r"value tensor of shape (\[.{0,80}?\]) cannot be broadcast to indexing result of shape (\[.{0,80}?\])",
        "indexed",
        "The values have shape {shapes[0]}, but the places{of} that are written have shape {shapes[1]}.",
    ),
    (
        r"more than one element of the written-to tensor refers to a single memory location",
        "shared",
        (
            "Several entries{of} are one number in memory, as `.expand` leaves them, so nothing can be written there. "
            "A line such as `dx = dx / n` makes a new tensor, and so does `.clone()`."
        ),
    ),
    (
        r"too many indices for tensor of dimension (\d+)",
        "brackets",
        (
            "{tensor} has fewer axes than indices stand in its brackets. Is another tensor meant, or one that is "
            "written into at these places?"
        ),
    ),
    (
        r"indexing tensors could not be broadcast together with shapes (\[.{0,80}?\]), (\[.{0,80}?\])",
        "pairs",
        (
            "The indices in the brackets have shapes {shapes[0]} and {shapes[1]}. One of each together name a place, "
            "so there are as many of the one as of the other."
        ),
    ),
    (
        r"expanded size of the tensor .{0,120} Target sizes: (\[.{0,80}?\])\.\s+Tensor sizes: (\[.{0,80}?\])",
        "expanded",
        _describe_expand,
    ),
    (
        r"source tensor shape must match .{0,80}self\.shape = (\[.{0,80}?\]) source\.shape = (\[.{0,80}?\])",
        "added_rows",
        _added_rows,
    ),
    (
        r"view size is not compatible with input tensor's size and stride",
        "view",
        (
            "The memory order{of} does not allow `.view` here, usually after a transpose. `.reshape` does the same in "
            "any memory order."
        ),
    ),
    (r"shape '(\[.{0,80}?\])' is invalid for input of size (\d+)", "reshape", _reshape),
    (
        r"failed to unpack the object at pos \d+ with error .type must be tuple of ints,but got float",
        "fraction",
        (
            "{within} size is a fraction, and a size is a whole number. `/` makes a fraction of any two numbers. Is a "
            "division meant there, or a product? `//` divides whole numbers."
        ),
    ),
    (
        r"invalid shape dimension (-\d+) at index",
        "negative",
        "{within} size comes to {match[1]}, and a size is not negative.",
    ),
    (
        r"numel: integer multiplication overflow",
        "negative",
        "{within} size is negative, or the sizes make more entries than there can be.",
    ),
    (
        r"tensor\.(m?T) is only supported on matrices.{0,99} Got (\d)-D tensor",
        "unturned",
        (
            "`.{match[1]}` exchanges the last two axes, and here it stands behind a tensor with {match[2]} of them: "
            "there is nothing to turn."
        ),
    ),
    (r"one_hot is only applicable to index tensor", "one_hot", _one_hot),
    (
        r"Class values must be smaller than num_classes",
        "classes",
        (
            "{within}n index is as large as the number of classes, or larger. `F.one_hot` counts them from 0: of 27 "
            "classes the last one is 26. Were the places taken along another axis?"
        ),
    ),
    (r"only one element tensors can be converted|elements cannot be converted to Scalar", "one_number", _one_number),
    (
        r"expected m1 and m2 to have the same dtype|expected scalar type|must have the same dtype|have same dtype",
        "dtypes",
        _dtypes,
    ),
    (r"result type (\w+) can't be cast to the desired output type (\w+)", "cast", _cast),
    (
        r"leaf Variable that requires grad is being used in an in-place operation",
        "inplace_leaf",
        "Autograd watches this tensor, so it cannot be changed in place. Update it under `torch.no_grad()`.",
    ),
    (
        r"variables needed for gradient computation has been modified by an inplace operation",
        "changed",
        "A tensor that the backward pass still needs was changed in place. Work on a `.clone()`.",
    ),
    (
        r"Trying to backward through the graph a second time",
        "second",
        "The graph was freed by the first backward pass; a second one needs a new forward pass.",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "autograd",
        "This box is for the hand-made rule; autograd is the judge and cannot be used in it.",
    ),
    (
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "index",
        _describe_index,
    ),
    (
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
        "axis",
        "{tensor} has no axis {match[3]}; its axes go from {match[1]} to {match[2]}.",
    ),
    (r"^tuple index out of range$", "past", _past),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "truth",
        _describe_truth,
    ),
    (r"^'(dict|list|set)' object has no attribute '(\w{1,40})'", "container", _describe_container),
    (r"^'Tensor' object has no attribute '(\w{1,40})'", "attribute", _describe_attribute),
    (r"name '(\w+)·(\w+)", "dot", _describe_dot),
    (r"name '(\w+)' is not defined", "no_name", _no_name),
    (r"cannot access (?:local|free) variable '(\w+)'", "no_name", _no_name),
    (
        r"^more than [\d,]+ characters were printed$",
        "flood",
        "By this line {match[0]}, so it was stopped. Print a shape, or a few rows.",
    ),
    (r"^(.+) \(<submission>, line \d+\)$", "syntax", _syntax),
    *OWN_FUNCTIONS,
    *CALLS,
)
