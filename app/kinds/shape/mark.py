"""Shapes: `(5,)`, `5`, `[5]`, `(H,)`, `5,3`, `32x64`, `()`; a partly given shape takes what is missing or the whole."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.content.blocks import Forward
from app.content.text.sizes import UnreadableShapeError, format_named_shape, format_shape, name_of, shape_text, sizes_in
from app.grading.forward.facts import Shape
from app.grading.quiz.feedback import (
    Feedback,
    Shapes,
    count_text,
    right_feedback,
    tensor_of,
    underivable_feedback,
    unread_feedback,
    word_list,
    wrong_feedback,
)
from app.kinds.shape.block import ShapeQuestion as ShapeQuiz

SHAPE_OF = re.compile(r"([^\W\d]\w*)\.(?:shape|size\(\))")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ShapeReading:
    """A shape as it was read; *echo* repeats it with the names that were used."""

    shape: Shape
    echo: str


def mark_shape(quiz: ShapeQuiz, values: Sequence[str], shapes: Shapes, forward: Forward | None) -> Feedback:
    text = ", ".join(values)
    wanted = expected(quiz, shapes)
    if wanted is None:
        return underivable_feedback(quiz.of or quiz.name)
    dims = _dims(shapes, forward)
    try:
        given_sizes = _given_sizes(quiz, dims)
        read = _of_tensor(text, quiz, shapes) or _parse_shape(text, given_sizes, dims)
    except UnreadableShapeError as error:
        return unread_feedback(str(error))
    if read.shape == wanted:
        return right_feedback(_right(quiz, wanted, shapes), read.echo)
    for distractor in quiz.tempting:
        try:
            if _parse_shape(distractor.value, given_sizes, dims).shape == read.shape:
                return wrong_feedback(distractor.html, read.echo)
        except UnreadableShapeError:
            continue
    return wrong_feedback(_wrong(quiz, read.shape, wanted, given_sizes, shapes), read.echo)


def expected(quiz: ShapeQuiz, shapes: Mapping[str, Shape]) -> Shape | None:
    """The right shape: derived where it can be, else as the author wrote it."""
    tensor = tensor_of(quiz.of, shapes) if quiz.of else None
    if tensor is not None:
        return shapes[tensor]
    try:
        return tuple(int(size) for size in sizes_in(quiz.answer)) if quiz.answer else None
    except ValueError:
        return None


def answer_disagreement(quiz: ShapeQuiz, shapes: Mapping[str, Shape]) -> str:
    """Say why the author's `:answer:` or `:ask:` cannot be true of the forward program; empty if they can."""
    wanted = expected(quiz, shapes)
    if wanted is None:
        return ""
    dims = _dims(shapes, None)
    try:
        explicit = tuple(int(size) for size in sizes_in(quiz.answer)) if quiz.answer else wanted
        given_sizes = _given_sizes(quiz, dims) or wanted
    except ValueError as error:
        return str(error)
    if explicit != wanted:
        return f"':answer:' is {format_shape(explicit)}, but {quiz.of!r} has the shape {format_shape(wanted)}."
    fits = len(given_sizes) == len(wanted) and all(
        number in (None, size) for number, size in zip(given_sizes, wanted, strict=True)
    )
    return "" if fits else f"':ask:' {quiz.ask} does not fit the shape {format_shape(wanted)} of {quiz.of!r}."


def _dims(shapes: Mapping[str, Shape], forward: Forward | None) -> dict[str, int]:
    dims = {name_of(size): size for shape in shapes.values() for size in shape if name_of(size)}
    return {**dims, **(forward.dims if forward else {})}


def _given_sizes(quiz: ShapeQuiz, dims: Mapping[str, int]) -> tuple[int | None, ...] | None:
    if quiz.ask is None:
        return None
    return tuple(None if size == "?" else _size(size, dims) for size in sizes_in(quiz.ask))


def _size(text: str, dims: Mapping[str, int]) -> int:
    if text.isdecimal():
        return int(text)
    if text in dims:
        return dims[text]
    same = [dims[name] for name in dims if name.lower() == text.lower()]
    if len(same) == 1:
        return same[0]
    known = f" The names here are {', '.join(f'`{name}`' for name in dims)}." if dims else " Write numbers."
    raise UnreadableShapeError(f"There is no size called `{text[:20]}`.{known}")


def _of_tensor(text: str, quiz: ShapeQuiz, shapes: Mapping[str, Shape]) -> ShapeReading | None:
    """`W.shape`, which is known where `dW` is asked for; None where *text* names no tensor's shape."""
    match = SHAPE_OF.fullmatch(text.strip())
    if match is None:
        return None
    name = match[1]
    if name == quiz.of:
        raise UnreadableShapeError(f"That is what is asked for: write the sizes of `{name}`.")
    tensor = tensor_of(name, shapes)
    if tensor is None:
        raise UnreadableShapeError(f"There is no tensor called `{name[:20]}` here.")
    return ShapeReading(shapes[tensor], f"{name}.shape = {format_shape(shapes[tensor])}")


def with_commas(text: str, dims: Mapping[str, int]) -> str:
    """*text* with commas for an x between sizes that are known: of `HxK` nothing else tells where a name ends."""
    names = "|".join([*map(re.escape, sorted(dims, key=len, reverse=True)), r"\d+"])
    size = re.compile(rf"(?:{names})(?=[xX]|$)", re.IGNORECASE)

    def parted(word: re.Match[str]) -> str:
        sizes, end = list[str](), 0
        while part := size.match(word[0], end):
            sizes.append(part[0])
            if part.end() == len(word[0]):
                return ", ".join(sizes)
            end = part.end() + 1
        return word[0]

    return WORD.sub(parted, text)


def _parse_shape(text: str, given_sizes: tuple[int | None, ...] | None, dims: Mapping[str, int]) -> ShapeReading:
    """Read *text*, filled into the *given_sizes* where it gives just what is missing.

    Raises:
        UnreadableShapeError: It is no shape, or has too few sizes.
    """
    if not text.strip():
        raise UnreadableShapeError("Write a shape, such as `(32, 64)`.")
    sizes = sizes_in(with_commas(text, dims))
    if "?" in sizes:
        raise UnreadableShapeError("Replace the `?` by a size.")
    values = [_size(size, dims) for size in sizes]
    words = list(sizes)
    if given_sizes is not None and len(values) != len(given_sizes) and len(values) == given_sizes.count(None):
        filling = iter(list(zip(values, words, strict=True)))
        pairs = [(size, str(size)) if size is not None else next(filling) for size in given_sizes]
        values, words = [value for value, _ in pairs], [word for _, word in pairs]
    numbers = format_shape(values)
    echo = numbers if all(word.isdecimal() for word in words) else f"{format_shape(words)} = {numbers}"
    return ShapeReading(tuple(values), echo)


def _right(quiz: ShapeQuiz, wanted: Shape, shapes: Mapping[str, Shape]) -> str:
    tensor = tensor_of(quiz.of, shapes) if quiz.of else None
    if tensor and quiz.of != tensor:
        return f"`{quiz.of}` has the shape of `{tensor}`: {shape_text(wanted)}."
    return f"The shape is {shape_text(wanted)}."


def _wrong(
    quiz: ShapeQuiz, got: Shape, wanted: Shape, given_sizes: tuple[int | None, ...] | None, shapes: Mapping[str, Shape]
) -> str:
    """Say what is wrong with a shape, without saying what is right."""
    what = f"`{quiz.of}`" if quiz.of else "The shape"
    tensor = tensor_of(quiz.of, shapes) if quiz.of else None
    law = f" A gradient has the shape of its tensor: look at `{tensor}`." if tensor and tensor != quiz.of else ""
    if sorted(got) == sorted(wanted):
        return f"These are the right sizes in another order.{law}"
    if given_sizes is not None and len(got) == len(given_sizes):
        given = [size for size, number in zip(got, given_sizes, strict=True) if number not in (None, size)]
        if given:
            return f"{quiz.ask} already gives the other numbers; only the `?` is asked for."
    if len(got) != len(wanted):
        return f"{what} has {count_text(len(wanted), 'axis', 'axes')}; this has {len(got)}.{law}"
    owners = [f"`{name}`" for name, shape in shapes.items() if shape == got]
    if owners and given_sizes is None:
        return f"That is the shape of {owners[0]}.{law}"
    if law:
        return law.strip()
    off = [f"axis {axis}" for axis, (number, size) in enumerate(zip(got, wanted, strict=True)) if number != size]
    verdict = f"The size of {word_list(off)} is not right."
    return f"{verdict} Each axis is one of the named sizes." if format_named_shape(wanted) else verdict
