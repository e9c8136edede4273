"""Sizes by the names of dims: `N`, `N·D`, `N-1`, `2·D`, known by what they are on several sets of sizes."""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from math import prod

Sizes = tuple[int, ...]


def size_words(dims: Sequence[Mapping[str, int]]) -> dict[Sizes, str]:
    """Names of sizes that are a dim, or follow from dims, by what they are on each of *dims*.

    What is ambiguous has none.
    """
    single = {name: tuple(dim[name] for dim in dims) for name in dims[0] if all(name in dim for dim in dims)}
    words: dict[Sizes, str] = {}
    for rows in ([(item, name) for name, item in single.items()], _products(single), _beside(single)):
        fresh: dict[Sizes, str] = {}
        for item, word in rows:
            fresh[item] = word if fresh.get(item, word) == word else ""
        words = fresh | words
    return {item: word for item, word in words.items() if word and set(item) != {1}}


def _products(single: Mapping[str, Sizes]) -> list[tuple[Sizes, str]]:
    several = [names for count in (2, 3) for names in combinations_with_replacement(single, count)]
    products = [
        (tuple(map(prod, zip(*(single[name] for name in names), strict=True))), "·".join(names)) for names in several
    ]
    return [row for row in products if len(set(row[0])) > 1]


def _beside(single: Mapping[str, Sizes]) -> list[tuple[Sizes, str]]:
    moved = [
        (f"{name}{by:+d}", tuple(size + by for size in sizes))
        for name, sizes in single.items()
        for by in (1, 2, -1, -2)
    ]
    times = [(f"{by}·{name}", tuple(size * by for size in sizes)) for name, sizes in single.items() for by in (2, 3, 4)]
    return [(sizes, word) for word, sizes in (*moved, *times) if len(set(sizes)) > 1]
