"""A choice among options."""

from dataclasses import dataclass
from functools import cached_property

from app.content.blocks.exercises import Option, Quiz


@dataclass(frozen=True, kw_only=True)
class ChoiceQuestion(Quiz):
    """Radio buttons where one option is right, checkboxes where several are."""

    options: tuple[Option, ...]

    @cached_property
    def multiple(self) -> bool:
        return sum(option.right for option in self.options) > 1
