"""The sets of data, and how the hidden ones are drawn: as usual, or again where they miss a side of a predicate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.grading.forward.data import Array, Draw
from app.grading.forward.driver_jobs import Asked
from app.grading.forward.sides import alternative_draws, missing_sides

SETS = ("v", "a", "b")
HIDDEN = ("a", "b")
DTYPE = {"v": "float32", "a": "float64", "b": "float64"}

DRAWS: Mapping[str, Draw] = {
    "v": Draw(),
    "a": Draw(absent="last"),
    "b": Draw(spread=0.25, absent="first"),
}
"""The usual draw of each set of data."""
MAX_HIDDEN_NUMBER = 1e6
"""A number beyond it drowns what should be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """The program's tensors on one set of data; *numbers* are what its statements left that is not a tensor."""

    dims: Mapping[str, int]
    tensors: Mapping[str, Array]
    numbers: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Data for one run: drawn with the seed and type of the set that it is *like*, on sizes *dims*."""

    like: str
    dims: Mapping[str, int]
    draw: Draw


def asked_in(report: Mapping[str, Any]) -> tuple[Asked, ...]:
    """The predicates in the *report* of a run; none where it came to nothing."""
    return tuple(Asked(*item) for item in report.get("asked", ()))


def better_draws(
    drawn: Mapping[str, Drawn], report: Mapping[str, Any], tried: Callable[[Mapping[str, Drawn]], Mapping[str, Any]]
) -> dict[str, Draw]:
    """By set, the draw whose run misses least: the one that *drawn* has, or one that was *tried*."""
    draws = {name: item.draw for name, item in drawn.items()}
    before: tuple[Asked, ...] = ()
    for name in ("a", "b"):
        best = asked_in(report[name])
        missing = len(missing_sides(best, before, first=name == "a"))
        for run, item in _runs(drawn[name]) if missing else ():
            answer = tried({run: item}).get(run, {})
            predicates = asked_in(answer)
            if not answer.get("finite") or answer["largest"] > MAX_HIDDEN_NUMBER or len(predicates) != len(best):
                continue
            left = len(missing_sides(predicates, before, first=name == "a"))
            if left < missing:
                best, missing, draws[name] = predicates, left, item.draw
            if not missing:
                break
        before = best
    return draws


def _runs(usual: Drawn) -> Iterator[tuple[str, Drawn]]:
    for number, draw in enumerate(alternative_draws(usual.draw)):
        yield f"{usual.like}{number}", Drawn(usual.like, usual.dims, draw)
