"""View of the names that the model learns from: counts, symbols, parts, and the examples of a name."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from app.engine.train.corpus_file import load_examples, load_names, load_parts
from app.grading.train.corpus import CONTEXT, LONGEST, PARTS, SYMBOLS, Names, NamesError, examples_of
from app.web.render import SPLIT_NAMES as WORDS

FIRST = "emma"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesView:
    """The data of this server.

    Args:
        parts: By part of the data, how many names and how many examples it holds.
        examples: Numbers of the symbols before, and of the one that follows.
        wrong: Why there are no names, or why *asked* is none.
    """

    listed: Names | None = None
    longest: int = 0
    parts: tuple[tuple[str, int, int], ...] = ()
    asked: str = ""
    found: str = ""
    examples: tuple[tuple[list[int], int], ...] = ()
    wrong: str = ""

    @property
    def symbols(self) -> str:
        """The symbol of each number."""
        return SYMBOLS


async def names_view(path: Path | None, first_name: str = FIRST) -> NamesView:
    """The names at *path*, and *first_name* among them; read and counted in a thread, since a list can be long."""
    return await asyncio.to_thread(_names_view, path, first_name[: 2 * LONGEST])


def _names_view(path: Path | None, first_name: str) -> NamesView:
    data = _data(path)
    if data.wrong:
        return replace(data, asked=first_name)
    name = first_name.strip().lower()
    if not (name.isascii() and name.isalpha() and len(name) <= LONGEST):
        return replace(data, asked=first_name, wrong=f"A name has 1 to {LONGEST} letters from a to z.")
    return replace(data, asked=first_name, found=_split_of(name, load_parts(path)), examples=_examples(name))


@lru_cache(maxsize=4)
def _data(path: Path | None) -> NamesView:
    """Data that is the same for each query; if the list cannot be read, the cached one is used."""
    try:
        listed, parts, examples = load_names(path), load_parts(path), load_examples(path, CONTEXT)
    except NamesError as error:
        return NamesView(wrong=f"The names of this server cannot be read. {error}")
    counts = tuple((part, len(parts[part]), len(examples[part])) for part in PARTS)
    return NamesView(listed=listed, longest=listed.longest, parts=counts)


async def known_names(path: Path | None) -> frozenset[str]:
    """The names of the list; none where it cannot be read."""
    return await asyncio.to_thread(_known_names, path)


@lru_cache(maxsize=4)
def _known_names(path: Path | None) -> frozenset[str]:
    try:
        return frozenset(load_names(path).names)
    except NamesError:
        return frozenset()


def _split_of(name: str, parts: Mapping[str, tuple[str, ...]]) -> str:
    """Split that contains *name*, in words."""
    counts = {WORDS[part]: parts[part].count(name) for part in PARTS}
    places = [f"{count} time{'s' * (count > 1)} in the {part} part" for part, count in counts.items() if count]
    return f"In the list: {', '.join(places)}." if places else "Not in the list: the model never sees this name."


def _examples(name: str) -> tuple[tuple[list[int], int], ...]:
    examples = examples_of([name], CONTEXT)
    return tuple(zip(examples.contexts.tolist(), examples.targets.tolist(), strict=True))
