"""The names that the model learns from, to look into: counts, symbols, parts, and the examples that any name gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.engine.names import load_examples, load_names, load_parts
from app.grading.names import CONTEXT, LONGEST, PARTS, SYMBOLS, NamesError, examples_of
from app.web.render import wants_fragment
from app.web.site import TheSite

router = APIRouter()

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

    source: str
    count: str
    longest: int
    beginning: tuple[str, ...]
    parts: tuple[PartView, ...]
    symbols: tuple[tuple[str, int], ...]
    asked: str
    found: str
    examples: tuple[ExampleView, ...]
    wrong: str


@router.get("/names")
async def names(request: Request, site: TheSite, name: str = FIRST) -> Response:
    """The data, and the examples that *name* gives."""
    view = names_view(site.runs.names, name)
    if wants_fragment(request):
        return site.pages.fragment("_name.html", names=view)
    return site.pages.page(request, "names.html", names=view)


def names_view(path: Path | None, asked: str = FIRST) -> NamesView:
    symbols = tuple((symbol, index) for index, symbol in enumerate(SYMBOLS))
    try:
        listed, parts, examples = load_names(path), load_parts(path), load_examples(path, CONTEXT)
    except NamesError as error:
        return NamesView(
            source="", count="", longest=0, beginning=(), parts=(), symbols=symbols, asked=asked, found="",
            examples=(), wrong=f"The names of this server cannot be read. {error}",
        )  # fmt: skip
    name = asked.strip().lower()
    fits = name.isascii() and name.isalpha() and len(name) <= LONGEST
    return NamesView(
        source=listed.source,
        count=f"{len(listed.names):,}",
        longest=listed.longest,
        beginning=listed.names[:BEGINNING],
        parts=tuple(PartView(WORDS[part], f"{len(parts[part]):,}", f"{len(examples[part]):,}") for part in PARTS),
        symbols=symbols,
        asked=asked[: 2 * LONGEST],
        found=_found(name, parts) if fits else "",
        examples=_examples(name) if fits else (),
        wrong="" if fits else f"A name has 1 to {LONGEST} letters from a to z.",
    )


@lru_cache(maxsize=4)
def known_names(path: Path | None) -> frozenset[str]:
    """The names of the list; none where it cannot be read."""
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
