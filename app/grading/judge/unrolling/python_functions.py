"""Functions of Python that run over what is known of a text, such as `range` and `zip`."""

from collections.abc import Mapping, Sequence

from app.grading.judge.unrolling.values import (
    LONGEST,
    Items,
    KeyedItems,
    Known,
    UnknownError,
    Value,
    constant,
    known_of,
    sequence,
)

FUNCTIONS = frozenset(["range", "len", "zip", "enumerate", "reversed", "list", "tuple", "dict", "str", "int"])
"""Those that are called where what they are called with is known."""


def result_of(name: str, values: Sequence[Value], options: Mapping[str, Value], sizes: Mapping[str, int]) -> Value:
    """The value of the function *name*.

    Raises:
        UnknownError: What it is called with is not known.
    """
    match name:
        case "range":
            numbers = range(*(known_of(value, sizes) for value in values))
            if len(numbers) > LONGEST:
                raise UnknownError
            return Items([Known(number) for number in numbers])
        case "str" | "int" if len(values) == 1:
            return Known((str if name == "str" else int)(constant(values[0])))
        case "len" if isinstance(values[0], Items | KeyedItems):
            return Known(len(sequence(values[0])))
        case "zip" if not options:
            return Items([Items([*row]) for row in zip(*map(sequence, values), strict=False)])
        case "enumerate":
            start = constant(next(iter([*options.values(), *values[1:]]), Known(0)))
            rows = enumerate(sequence(values[0]), start)
            return Items([Items([Known(at), item]) for at, item in rows])
        case "reversed":
            return Items(sequence(values[0])[::-1])
        case "list" | "tuple":
            return Items([item for value in values for item in sequence(value)])
        case "dict" if not values:
            return KeyedItems(dict(options.items()))
    raise UnknownError
