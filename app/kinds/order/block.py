"""A question for an order."""

from dataclasses import dataclass

from app.content.blocks.exercises import OrderStep, Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderQuestion(Quiz):
    """Question for the order of *lines*, which are given in a right order.

    Args:
        shown: Which of them stands where on the page.
        steps: What they are where they are no code but sentences.
        of: The code box whose solution they are, where they are one's.
        forward: Else the program whose gradients they write, where it is named.
        stretches: By line, the name of the step that it is part of, or empty; none where steps have no names.
    """

    lines: tuple[str, ...]
    shown: tuple[int, ...]
    steps: tuple[OrderStep, ...] = ()
    of: str | None = None
    forward: str | None = None
    stretches: tuple[str, ...] = ()

    def named(self, line: int) -> str:
        """The step of *line* in brackets, to be said behind it; empty without a name."""
        return f" ({self.stretches[line]})" if self.stretches and self.stretches[line] else ""
