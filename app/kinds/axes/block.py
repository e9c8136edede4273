"""A question for axes."""

from dataclasses import dataclass

from app.content.blocks.exercises import Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class AxesQuestion(Quiz):
    """Ask which axes of *source* (such as `dY`) are summed to give *of* (such as `db`)."""

    forward: str
    of: str
    source: str
