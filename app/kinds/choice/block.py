"""A choice among options."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from app.content.blocks.exercises import Option, Quiz
from app.content.blocks.places import SourceLocation


@dataclass(frozen=True, kw_only=True)
class ChoiceQuestion(Quiz):
    """Radio buttons where one option is right, checkboxes where several are.

    Args:
        instead: By the number of a right option, that of one which is as right in its place.
    """

    options: tuple[Option, ...]
    instead: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def multiple(self) -> bool:
        return sum(option.right for option in self.options) > 1

    def usual_choice(self, chosen: Collection[int]) -> set[int]:
        """*chosen*, with the usual option for each that was taken in its place."""
        taken = {other: usual for usual, other in self.instead.items() if usual not in chosen}
        return {taken.get(number, number) for number in chosen}

    def unexplained(self) -> Iterator[tuple[SourceLocation, str, str]]:
        """Slips of care: nothing is wrong, or nothing is said to a wrong option."""
        if all(option.right for option in self.options):
            yield self.place, "all-right", f"All options of {self.name!r} are right."
        for option in self.options:
            if not option.right and not option.feedback:
                message = "Nothing is said to those who choose this wrong option. Write '  > Why not.' below it."
                yield option.place, "no-feedback", message
