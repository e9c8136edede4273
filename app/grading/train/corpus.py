"""A list of names as training data: symbols, contexts, and the three parts that it is divided into.

The names are divided, not the examples, so no name is cut in two. A list may hold a name more than once, and then it
may stand in several parts. The shuffle is Python's own with seed 42: a list that is known elsewhere is divided here as
there.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.content.blocks import Table

SYMBOLS = "." + "".join(chr(letter) for letter in range(ord("a"), ord("z") + 1))
PARTS = ("train", "validation", "test")
CONTEXT = 3
SEED = 42

FEWEST, MOST = 100, 500_000
LONGEST = 40

Numbers = NDArray[Any]
T = TypeVar("T")


class NamesError(ValueError):
    """Error of a text that is no list of names; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Examples:
    """*contexts* is (examples, context); *targets* holds the symbol that follows each. Both count from `.` = 0.

    Of a table they are its numbers.
    """

    contexts: Numbers
    targets: Numbers

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A list of names in its own order; *source* says in words where it comes from."""

    names: tuple[str, ...]
    source: str

    @property
    def longest(self) -> int:
        return max(len(name) for name in self.names)


def read_names(text: str, source: str) -> Names:
    """The names of *text*, one a line, empty lines left out, capitals made small.

    Raises:
        NamesError: A line holds anything but letters, or there are too few names or too many.
    """
    names = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        name = line.strip().lower()
        if not name:
            continue
        if not (name.isascii() and name.isalpha()):
            raise NamesError(f"{source}, line {number}: {line.strip()[:40]!r} holds more than the letters a to z.")
        if len(name) > LONGEST:
            raise NamesError(f"{source}, line {number}: a name of {len(name)} letters; the longest is {LONGEST}.")
        names.append(name)
        if len(names) > MOST:
            raise NamesError(f"{source} holds more than {MOST:,} names.")
    if len(names) < FEWEST:
        raise NamesError(f"{source} holds {len(names)} names; a training run needs at least {FEWEST}, one a line.")
    return Names(names=tuple(names), source=source)


def read_census(texts: Sequence[str], source: str) -> Names:
    """The first names of census tables (`MARY 2.629 2.629 1`), each once, in alphabetical order."""
    words = {line.split()[0].lower() for text in texts for line in text.splitlines() if line.strip()}
    return read_names("\n".join(sorted(words)), source)


def split_names(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """*names* shuffled, then 80 % for training, 10 % for validation and 10 % for the test."""
    return {part: tuple(some) for part, some in _split(list(names)).items()}


def split_table(table: Table) -> dict[str, Examples]:
    """The rows of *table*, shuffled and divided as names are."""
    contexts = np.asarray(table.contexts, dtype=np.int64 if table.whole else np.float32)
    targets = np.asarray(table.targets, dtype=np.int64 if table.classes else np.float32)
    order = _split(list(range(len(table.targets))))
    return {part: Examples(contexts[some], targets[some]) for part, some in order.items()}


def _split(rows: list[T]) -> dict[str, list[T]]:
    """*rows*, which are shuffled in place, by part."""
    random.Random(SEED).shuffle(rows)
    first, second = int(0.8 * len(rows)), int(0.9 * len(rows))
    return dict(zip(PARTS, (rows[:first], rows[first:second], rows[second:]), strict=True))


def examples_of(names: Sequence[str], context: int = CONTEXT) -> Examples:
    """One example for each letter of each name, and one for its end."""
    # Every name between its dots: `...emma.`; each window of context + 1 symbols that ends inside it is an example.
    padded = "".join(f"{'.' * context}{name}." for name in names)
    symbols = np.frombuffer(padded.encode("ascii"), np.uint8)
    indices = np.where(symbols == ord("."), 0, symbols - (ord("a") - 1)).astype(np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(indices, context + 1)
    ends = _ends(names, context)
    rows = windows[ends - context]
    return Examples(np.ascontiguousarray(rows[:, :context]), np.ascontiguousarray(rows[:, context]))


def least_loss(examples: Examples) -> float:
    """The least mean cross-entropy, in nats, that a model has which sees the contexts of *examples* and nothing else.

    It is that of a table of counts: for each context the shares of the symbols that follow it.
    """
    pairs, seen = np.unique(np.column_stack((examples.contexts, examples.targets)), axis=0, return_counts=True)
    _, kinds = np.unique(pairs[:, :-1], axis=0, return_inverse=True)
    followed = np.bincount(kinds.reshape(-1), weights=seen)[kinds.reshape(-1)]
    return float(seen @ np.log(followed / seen) / seen.sum())


def _ends(names: Sequence[str], context: int) -> NDArray[np.int64]:
    """Positions of the last symbol of each example in the padded text: everywhere but in the padding."""
    lengths = np.array([len(name) + 1 for name in names], dtype=np.int64)
    paddings = np.repeat(np.arange(1, len(names) + 1) * context, lengths)
    return np.arange(int(lengths.sum()), dtype=np.int64) + paddings


def spell_name(indices: Sequence[int]) -> str:
    """The name that a row of symbols spells, up to its end."""
    letters = []
    for index in indices:
        if index == 0:
            break
        letters.append(SYMBOLS[index])
    return "".join(letters)
