"""Shapes as people write them: `(5,)`, `5`, `[5]`, `5,3`, `32x64`, `()`, `(H, ?)`. Reading is total on any text."""

import re
from collections.abc import Sequence

BRACKETS = {"(": ")", "[": "]", "{": "}"}
QUOTES = " \t\n\"'`“”„‟‘’‚«»"
MAX_SIZE_CHARS = 120
# `shape (3,)`, `dW: (3,)`, `dW.shape = (3,)`, `torch.Size([3])`
LEAD = re.compile(
    r"^(?:[^\W\d]\w*(?:\.shape|\.size\(\))?\s*[:=]\s*)?(?:(?:shape|(?:torch\.)?Size)\b(?:\s*[:=])?\s*)?(?=\S)"
)
SCALAR = re.compile(r"(?:a )?scalar|0[- ]?d|\(\s*,\s*\)", re.IGNORECASE)
MOST_AXES = 8
LARGEST_SIZE = 100_000


class UnreadableShapeError(ValueError):
    """The text is no shape."""


def sizes_in(text: str) -> tuple[str, ...]:
    """The sizes of a shape as they are written: numbers, names or `?`.

    Raises:
        UnreadableShapeError: Nothing else is ever raised.
    """
    if len(text) > MAX_SIZE_CHARS:
        raise UnreadableShapeError("That is too long for a shape.")
    plain = text.strip(QUOTES)
    plain = LEAD.sub("", plain)
    plain = plain.rstrip(".") if plain.rstrip(".") else plain
    if SCALAR.fullmatch(plain):
        return ()
    stripped = False
    while plain and BRACKETS.get(plain[0]) == plain[-1] and len(plain) >= 2:
        plain, stripped = plain[1:-1].strip(), True
    if not plain:
        if stripped:
            return ()
        raise UnreadableShapeError("Nothing is written there.")
    if re.search(r"[()\[\]{}]", plain):
        raise UnreadableShapeError("Its brackets do not match.")
    plain = " ".join(plain.rstrip(",; ").split())
    # A phone makes a full stop of two spaces.
    sizes = re.split(" ?[,;×*] ?|\\. |(?<=[0-9]) ?[xX] ?(?=[0-9?])|(?<=[A-Za-z?]) [xX] (?=\\w)| (?:by )?", plain)
    if not all(re.fullmatch(r"\?|_+|\d{1,9}|[^\W\d]\w*", size) for size in sizes):
        raise UnreadableShapeError("It should be sizes separated by commas, such as (32, 64).")
    if len(sizes) > MOST_AXES:
        raise UnreadableShapeError(f"It has more than {MOST_AXES} axes.")
    return tuple("?" if set(size) <= {"_"} else str(int(size)) if size.isdecimal() else size for size in sizes)


def format_shape(shape: Sequence[object]) -> str:
    """A shape as Python writes it: `(27,)`, `(32, 27)`, `()`."""
    sizes = [str(int(size)) if isinstance(size, int) else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def plain_shape(text: str) -> str:
    """A shape as Python writes it, however *text* spells it; *text* where it is no shape."""
    try:
        return format_shape(sizes_in(text))
    except UnreadableShapeError:
        return text


def name_of(size: int) -> str:
    """The dim that a size came from, or nothing."""
    return str(getattr(size, "name", ""))


def format_named_shape(shape: Sequence[int]) -> str:
    """A shape by the names of its dims, such as `(N, H)` or `(N, 1)`; empty unless every other axis has one."""
    names = [name_of(size) for size in shape]
    known = [name or ("1" if size == 1 else "") for name, size in zip(names, shape, strict=True)]
    return format_shape(known) if any(names) and all(known) else ""


def shape_text(shape: Sequence[int]) -> str:
    """`(N, H)` = `(32, 27)` in backticks, or the numbers alone where there are no names."""
    names = format_named_shape(shape)
    return f"`{names}` = `{format_shape(shape)}`" if names else f"`{format_shape(shape)}`"
