"""Literal numbers in place of a size, found by running: with the dim in their place the code fits other sizes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from app.check.findings import Finding
from app.content.blocks import Code, Forward, SourceLocation
from app.content.program.literals import Literal, literal_sizes, with_dim_names
from app.engine.grader import ProvingGrader
from app.engine.task import AnyTask
from app.syntax import parse_code, source_text

MOST_TRIED = 12
"""Numbers of one text that are put to the test."""


async def literals_of_forward(forward: Forward, grader: ProvingGrader) -> list[Finding]:
    """An error for every number that keeps *forward* on the sizes of the lesson."""

    async def runs(source: str) -> bool:
        facts = await grader.facts(replace(forward, source=source))
        return not facts.error and not facts.pinned

    literals = await _needed_dims(forward.source, forward, runs)
    # A program that was written out has other columns than the author's text.
    return [
        _finding(
            SourceLocation(forward.place.path, forward.line_of(literal.line), 1 if forward.lines else literal.column),
            literal,
        )
        for literal in literals
    ]


async def literals_of_solution(code: Code, task: AnyTask, forward: Forward, grader: ProvingGrader) -> list[Finding]:
    """An error for every number for which *code* does not pass."""

    async def passes(source: str) -> bool:
        return (await grader.check(task, source)).passed

    literals = await _needed_dims(code.source, forward, passes)
    return [
        _finding(SourceLocation(code.place.path, code.line + literal.line - 1, literal.column), literal)
        for literal in literals
    ]


async def _needed_dims(source: str, forward: Forward, holds: Callable[[str], Awaitable[bool]]) -> Sequence[Literal]:
    """The numbers of *source* that must be names of dims for it to hold; none where that does not help."""
    tree = parse_code(source)
    literals = literal_sizes(tree, forward.dims)[:MOST_TRIED]
    if not literals or not await holds(source_text(with_dim_names(tree, literals))):
        return ()
    needed = [
        literal
        for literal in literals
        if not await holds(source_text(with_dim_names(tree, [other for other in literals if other != literal])))
    ]
    return needed or literals[:1]


def _finding(place: SourceLocation, literal: Literal) -> Finding:
    message = f"{literal.number} stands here where the size of {literal.dim} is meant: write `{literal.dim}`."
    return Finding(place, "error", "literal-size", message)
