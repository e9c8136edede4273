"""More pairs of hidden runs of a program: where its numbers are few, and where they lie on the edge of a predicate."""

from collections.abc import Iterable
from dataclasses import replace

from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN, Drawn
from app.grading.forward.data import Draw
from app.grading.forward.driver_jobs import ROUTER
from app.grading.forward.sides import draw_of_pair, one_sided, pairs_needed

MOST_ENTRIES = 400_000
"""Entries of all tensors of all further pairs."""
EDGE = "edge"


def more_pairs(study: ForwardReferences) -> tuple[ForwardReferences, ...]:
    """*study* on so many more pairs of hidden runs that two different gates are not one by luck; mostly none."""
    entries = sum(tensor.size for name in HIDDEN for tensor in study.sets[name].tensors.values())
    count = min(pairs_needed(study.asked), MOST_ENTRIES // max(entries, 1))
    draws = (
        (number, {name: draw_of_pair(study.draws[name], number) for name in HIDDEN}) for number in range(1, count + 1)
    )
    return tuple(
        forward_references
        for number, drawn in draws
        if (forward_references := _pair(study, drawn, str(number))) is not None
    )


def edge_pair(study: ForwardReferences) -> ForwardReferences | None:
    """*study* on numbers some of which lie exactly on the edge of a predicate; None where none can."""
    if all(item.kind == ROUTER for predicates in study.asked for item in predicates):
        return None
    halves = {name: replace(study.draws[name], again=99, spread=1.0, halves=True) for name in HIDDEN}
    forward_references = _pair(study, halves, EDGE)
    return (
        forward_references
        if forward_references is not None
        and any(item.equal for predicates in forward_references.asked for item in predicates)
        else None
    )


def _pair(study: ForwardReferences, draws: dict[str, Draw], number: str) -> ForwardReferences | None:
    return study.pair({name: Drawn(name, study.sets[name].dims, draw) for name, draw in draws.items()}, number)


def one_sided_statements(study: ForwardReferences) -> tuple[tuple[int, str], ...]:
    """The statements that ask about something which is the same in all hidden runs: line of the file, and text."""
    if not one_sided(study.asked):
        return ()
    studies: Iterable[ForwardReferences] = (study, *more_pairs(study))
    return tuple(
        map(
            study.line_and_source,
            one_sided([predicates for forward_references in studies for predicates in forward_references.asked]),
        )
    )
