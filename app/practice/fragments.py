"""Exercises as markdown: what is printed for authors is what the server itself reads."""

from collections.abc import Sequence
from typing import Protocol


class Drawn(Protocol):
    """What is shown of an exercise."""

    @property
    def name(self) -> str: ...

    @property
    def forward(self) -> str: ...

    @property
    def solution(self) -> str: ...

    @property
    def require(self) -> tuple[str, ...]: ...


def front_matter(drawn: Drawn) -> str:
    """The head of a lesson that holds nothing else."""
    return f"---\ntitle: Practice\nid: {drawn.name}\nestimate: 5 min\n---\n\n"


def program(drawn: Drawn) -> str:
    """The forward program."""
    return f"```{{forward}} {drawn.name}-program\n{drawn.forward}```\n"


def grad_box(drawn: Drawn, hints: Sequence[str]) -> str:
    """The box in which the whole backward pass is written."""
    ladder = "".join(f":::{{hint}}\n{one}\n:::\n\n" for one in hints)
    options = f":forward: {drawn.name}-program\n:require: {' '.join(drawn.require)}\n:grade: rule\n"
    solution = f"```{{solution}}\n{drawn.solution}```\n"
    return f"::::{{grad}} {drawn.name}\n{options}\nWrite the backward pass.\n\n{ladder}{solution}::::\n"
