"""Errors for authors: the place, what was seen, and what to write instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from app.content.blocks.places import SourceLocation


@dataclass(frozen=True, slots=True)
class LessonError:
    """One fault in a lesson file.

    Args:
        code: Stable and short, such as `unknown-option`.
        message: What was seen, in one sentence.
        fix: What to write instead, or an empty string.
    """

    place: SourceLocation
    code: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.message}" + (f" {self.fix}" if self.fix else "")


def quoted_names(names: Iterable[str]) -> str:
    """*names* as they stand in a message."""
    return ", ".join(map(repr, names))


class LessonErrors(Exception):
    """Every fault of every file that was read, in file order."""

    def __init__(self, errors: tuple[LessonError, ...]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = errors


class ErrorCollector:
    """Collects the faults of one file, so that a run reports all of them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[LessonError] = []

    def at(self, line: int, column: int = 1) -> SourceLocation:
        return SourceLocation(self.path, line, column)

    def add(self, place: SourceLocation, code: str, message: str, fix: str = "") -> None:
        self._found.append(LessonError(place, code, message, fix))

    def has_code(self, code: str) -> bool:
        """True if an error of this *code* was added already."""
        return any(error.code == code for error in self._found)

    @property
    def found(self) -> tuple[LessonError, ...]:
        """In file order, each once."""
        unique = dict.fromkeys(self._found)
        return tuple(sorted(unique, key=lambda error: (error.place.line, error.place.column)))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence with the nearest of *known*, or with all of them when none is near; empty when there are none."""
    words = sorted({*known} - {""})
    near = get_close_matches(word, words, n=1, cutoff=0.6)
    if not near:  # as it is said aloud: 'BN_MEAN' for 'bnmean'
        spoken = {_with_article(name): name for name in words}
        near = [spoken[match] for match in get_close_matches(_with_article(word), spoken, n=1, cutoff=0.6)]
    if near:
        return f"Did you mean {near[0]!r}?"
    if not words:
        return ""
    return "Known here: " + ", ".join(words[:12]) + (", …." if len(words) > 12 else ".")


def _with_article(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")
