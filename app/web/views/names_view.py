"""What a template shows of the names that the model learns from: counts, symbols, parts, and the examples of a name."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from app.engine.train.corpus_file import load_examples, load_names, load_parts
from app.grading.train.corpus import CONTEXT, LONGEST, PARTS, SYMBOLS, NamesError, examples_of

BEGINNING = 12
FIRST = "emma"
WORDS = {"train": "training", "validation": "validation", "test": "test"}


@dataclass(frozen=True, slots=True)
class PartView:
    name: str
    names: str
    examples: str


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example: the symbols before, the one that follows, and the same as numbers."""

    context: str
    target: str
    numbers: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesView:
    """The data of this server. *wrong* says why there is none, or why *asked* is no name."""

    symbols: tuple[tuple[str, int], ...]
    source: str = ""
    count: str = ""
    longest: int = 0
    beginning: tuple[str, ...] = ()
    parts: tuple[PartView, ...] = ()
    asked: str = ""
    found: str = ""
    examples: tuple[ExampleView, ...] = ()
    wrong: str = ""


async def names_view(path: Path | None, asked: str = FIRST) -> NamesView:
    """The names at *path*, and what *asked* is among them; read and counted in a thread, since a list can be long."""
    return await asyncio.to_thread(_names_view, path, asked[: 2 * LONGEST])


def _names_view(path: Path | None, asked: str) -> NamesView:
    data = _data(path)
    if data.wrong:
        return replace(data, asked=asked)
    name = asked.strip().lower()
    if not (name.isascii() and name.isalpha() and len(name) <= LONGEST):
        return replace(data, asked=asked, wrong=f"A name has 1 to {LONGEST} letters from a to z.")
    return replace(data, asked=asked, found=_found(name, load_parts(path)), examples=_examples(name))


@lru_cache(maxsize=4)
def _data(path: Path | None) -> NamesView:
    """What is the same whatever is asked; a list that cannot be read is told from memory, too."""
    symbols = tuple((symbol, index) for index, symbol in enumerate(SYMBOLS))
    try:
        listed, parts, examples = load_names(path), load_parts(path), load_examples(path, CONTEXT)
    except NamesError as error:
        return NamesView(symbols=symbols, wrong=f"The names of this server cannot be read. {error}")
    return NamesView(
        source=listed.source,
        count=f"{len(listed.names):,}",
        longest=listed.longest,
        beginning=listed.names[:BEGINNING],
        parts=tuple(PartView(WORDS[part], f"{len(parts[part]):,}", f"{len(examples[part]):,}") for part in PARTS),
        symbols=symbols,
    )


async def known_names(path: Path | None) -> frozenset[str]:
    """The names of the list; none where it cannot be read."""
    return await asyncio.to_thread(_known_names, path)


@lru_cache(maxsize=4)
def _known_names(path: Path | None) -> frozenset[str]:
    try:
        return frozenset(load_names(path).names)
    except NamesError:
        return frozenset()


def _found(name: str, parts: Mapping[str, tuple[str, ...]]) -> str:
    """Where *name* stands, in words."""
    counts = {WORDS[part]: parts[part].count(name) for part in PARTS}
    places = [f"{count} time{'s' * (count > 1)} in the {part} part" for part, count in counts.items() if count]
    return f"In the list: {', '.join(places)}." if places else "Not in the list: the model never sees this name."


def _examples(name: str) -> tuple[ExampleView, ...]:
    examples = examples_of([name], CONTEXT)
    rows = zip(examples.contexts.tolist(), examples.targets.tolist(), strict=True)
    return tuple(
        ExampleView(
            context=" ".join(SYMBOLS[one] for one in context),
            target=SYMBOLS[target],
            numbers=" ".join(map(str, context)),
            index=target,
        )
        for context, target in rows
    )
