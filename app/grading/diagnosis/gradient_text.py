"""The learner's text that a gradient comes from: its lines, and the names and numbers that are written in them."""

from collections.abc import Sequence
from functools import cached_property

from app.bindings import nodes_of
from app.grading.diagnosis.evidence import WrongGradient
from app.grading.diagnosis.feeding_lines import feeding_lines, names_of
from app.syntax import Node, Statement, as_written, attribute_of, names_loaded, number_of, sides_of, sign_of


class GradientText:
    """The text of one case."""

    def __init__(self, case: WrongGradient) -> None:
        self._case = case

    @cached_property
    def words(self) -> set[str]:
        """Names and attributes in the lines that write the gradient."""
        return set(map(attribute_of, self._written_nodes)).union(*map(names_of, self._case.writes)) - {""}

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Numbers in the lines that write the gradient."""
        return frozenset(number for node in self._written_nodes if (number := number_of(node)) is not None)

    @property
    def _written_nodes(self) -> list[Node]:
        return [node for write in self._case.writes for node in nodes_of(write)]

    @cached_property
    def lines(self) -> tuple[Statement, ...]:
        """The lines that the gradient is made of: what a sentence says of the text, it says of them."""
        return feeding_lines(self._case) or self._case.lines or self._case.writes

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """All nodes of those lines."""
        return [node for line in self.lines for node in nodes_of(line)]

    @cached_property
    def names(self) -> set[str]:
        """The names that those lines read, with the words of the writing ones."""
        return self.words.union(*map(names_of, self.lines))

    def divides_by(self, name: str) -> bool:
        """True if something is divided by what reads *name*, or by a power of it that is written with a minus."""
        divisors = [sides[1] for node in self.nodes if sign_of(node) == "/" and (sides := sides_of(node))]
        powers = [node for node in self.nodes if sign_of(node) == "**"]
        return any(name in names_loaded(node) for node in (*divisors, *powers))

    def is_written(self, text: str) -> bool:
        """True if *text*, an expression, is in those lines."""
        return not self.lines or any(text in as_written(line) for line in self.lines)

    def reader_of(self, mentions: Sequence[str]) -> Statement | None:
        """The one line that reads all of *mentions*, if that is none which writes the gradient."""
        matching = [line for line in self.lines if mentions and names_of(line).issuperset(mentions)]
        return matching[0] if len(matching) == 1 and matching[0] not in self._case.writes else None
