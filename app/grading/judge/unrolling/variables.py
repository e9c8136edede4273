"""Variables of an unrolled text: each holds one value, as in static single assignment, and takes a name at the end."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from app.syntax import Statement, every_name_in

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the unrolled text.

    Args:
        name: What it was made for.
        shown: How the learner's text calls it, such as `das[2]`.
        turn: The turn of the loop that makes it, from 1; 0 outside of loops.
    """

    name: str
    shown: str
    turn: int


class Variables:
    """All variables of one text.

    Args:
        taken: Names that no variable may have.
        wanted: Names that keep their names, whatever held them before.
    """

    def __init__(self, taken: Iterable[str], wanted: Collection[str]) -> None:
        self._taken = {*taken, *wanted}
        self.wanted = wanted
        self.made: dict[str, Variable] = {}
        self._claimed: dict[str, list[str]] = {}

    def new(self, name: str, shown: str, turn: int) -> str:
        number = 1 + sum(1 for variable in self.made.values() if variable.name == name)
        while (text := f"{name}_v{number}") in self._taken:
            number += 1
        self._taken.add(text)
        self.made[text] = Variable(name, shown, turn)
        return text

    def claim(self, variable: str, name: str) -> None:
        """Note that *name* is to stand for what *variable* holds."""
        self._claimed.setdefault(variable, []).append(name)

    def copies(self) -> set[str]:
        """Names that stand for what another wanted name does: one of each such group keeps the variable."""
        copies = set[str]()
        for variable, names in self._claimed.items():
            shown = self.made[variable].shown if variable in self.made else ""
            first = next((name for name in names if re.search(rf"\W{name[1:]}\W", shown)), names[0])
            copies |= {*names} - {first}
        return copies

    def names(self, held: Mapping[str, str], lines: Iterable[Statement]) -> dict[str, str]:
        """By variable: the name that it takes.

        Args:
            held: By name: the variable that it stands for at the end.
        """
        names: dict[str, str] = {}
        for name in sorted(held, key=lambda each: each not in self.wanted):
            if held[name] in self.made:
                names.setdefault(held[name], name)
        spans = self._spans(lines)
        for name in self.wanted:
            versions = [text for text, variable in self.made.items() if variable.name == name]
            mine = [text for text in versions if not self.made[text].turn and names.get(text, name) == name]
            free = name not in names.values() or name in map(names.get, versions)
            in_turn = all(spans[before][1] <= spans[after][0] for before, after in pairwise(versions))
            if mine == versions and free and in_turn:
                names |= dict.fromkeys(versions, name)
        return names

    def sets_apart(self, names: Mapping[str, str]) -> bool:
        """True if a wanted gradient, or one of several steps that have one name, has a variable of its own.

        Args:
            names: By variable: the name that it takes.
        """
        straight = [variable.name for variable in self.made.values() if not variable.turn]
        again = any(straight.count(name) > 1 for name in {*straight} - {*self.wanted})
        return again or any(
            name in self.wanted and (self.made[text].turn > 0 or self.made[text].name != name)
            for text, name in names.items()
        )

    def _spans(self, lines: Iterable[Statement]) -> dict[str, Span]:
        """By variable: the first and the last line that it is in."""
        spans: dict[str, Span] = {}
        for at, line in enumerate(lines):
            for name in every_name_in(line):
                spans[name] = (spans.get(name, (at, at))[0], at)
        return {text: spans.get(text, (0, 0)) for text in self.made}
