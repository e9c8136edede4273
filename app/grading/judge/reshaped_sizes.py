"""The size at fault in a reshape that does not hold its entries: with another in its place the line is right."""

from collections.abc import Iterator, Sequence

from app.grading.judge.run_reports import ReportedError
from app.syntax import arguments_of, as_written, function_of, parse_expression, tuple_parts

ANY = "-1"


def describe_size(error: ReportedError, shape: Sequence[int]) -> str:
    """The one size of *shape* that is wrong, or the lack of one, in words; empty where none mends the line."""
    sizes, texts = _written_sizes(error.source), [*_with_another(error.source)]
    if len(sizes) != len(shape):
        return ""
    off = [size for size, text in zip(sizes, texts, strict=True) if error.mends(error.source, text)]
    if len(off) == 1:
        return f" Of its sizes `{off[0]}` is wrong, and the others are right."
    gaps = [at for at, text in enumerate(_with_one_more(error.source)) if not off and error.mends(error.source, text)]
    if not gaps:
        return ""
    place = f"before `{sizes[0]}`" if gaps[0] == 0 else f"behind `{sizes[gaps[0] - 1]}`"
    return f" A size is missing {place}."


def _written_sizes(source: str) -> list[str]:
    """The sizes in the call *source*, be they in brackets of their own or not."""
    try:
        arguments = arguments_of(parse_expression(source))
    except SyntaxError:
        return []  # a long text is cut
    parts = tuple_parts(arguments[-1]) if arguments else []
    return [as_written(size) for size in (parts if len(parts) > 1 else arguments)]


def _with_another(source: str) -> Iterator[str]:
    """The call *source* with the size that is left in the place of each of its sizes."""
    sizes = _written_sizes(source)
    yield from (_call(source, [*sizes[:at], ANY, *sizes[at + 1 :]]) for at in range(len(sizes)))


def _with_one_more(source: str) -> Iterator[str]:
    """The call *source* with the size that is left before each of its sizes, and behind the last one."""
    sizes = _written_sizes(source)
    yield from (_call(source, [*sizes[:at], ANY, *sizes[at:]]) for at in range(len(sizes) + 1))


def _call(source: str, sizes: Sequence[str]) -> str:
    call = parse_expression(source)
    return f"{as_written(function_of(call) or call)}({', '.join(sizes)})"
