"""Gradients that are right and have each other's names."""

from collections.abc import Mapping
from dataclasses import replace

from app.grading.diagnosis.phrases import sentences_of
from app.grading.forward.statements import ForwardProgram
from app.grading.judge.compare import Fit
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.verdict import NameVerdict
from app.syntax import name_of, nodes_in, sides_of, sign_of

_SAY = sentences_of("exchanged")
RUNS = ("v", "true")
"""The runs in which the learner's own numbers flow on."""


def exchanged_once(
    standing: Mapping[str, NameVerdict], fit: Fit, plan: ParsedSubmission, program: ForwardProgram
) -> dict[str, NameVerdict]:
    """*standing*, in which the first of several names that hold each other's gradients is at fault for all of them."""
    wrong = [name for name, verdict in standing.items() if verdict.verdict == "wrong" and verdict.code is None]
    holds = {
        name: other
        for name in wrong
        if (other := _held(name, wrong, fit)) is not None
        and (plan.last.get(name) == plan.last.get(other) or not _are_sides(program, name[1:], other[1:]))
    }
    verdicts = {**standing, **_under_another_name(standing, wrong, fit, plan)}
    for name in wrong:
        ring = _ring(name, holds)
        if not ring or verdicts[name].verdict != "wrong":
            continue
        names = ", ".join(f"`{each}`" for each in ring[:-1]) + f" and `{ring[-1]}`"
        said = _SAY["two" if len(ring) == 2 else "more"].format(name=name, names=names, held=ring[1][1:])
        verdicts[name] = replace(verdicts[name], code=f"{name}:exchanged:{ring[1]}", message=said)
        for other in ring[1:]:
            follows = replace(verdicts[other], verdict="follows", message=_SAY["other"].format(name=name, other=other))
            verdicts[other] = replace(follows, word=f"exchanged with {name}")
    return verdicts


def _under_another_name(
    standing: Mapping[str, NameVerdict], wrong: list[str], fit: Fit, plan: ParsedSubmission
) -> dict[str, NameVerdict]:
    """The words for a name to which a second line gives the gradient of one that no line makes."""
    unwritten = [name for name, verdict in standing.items() if verdict.verdict == "not-yet" and name not in plan.last]
    said = {}
    for name in wrong:
        if len(plan.writing(name)) > 1 and (other := _held(name, unwritten, fit)) is not None:
            message = _SAY["again"].format(name=name, other=other, line=plan.line_of(name))
            said[name] = replace(standing[name], code=f"{name}:exchanged:{other}", message=message)
    return said


def _are_sides(program: ForwardProgram, tensor: str, other: str) -> bool:
    """True if the two are multiplied by each other: a line that scales by its own side has a slip of its own."""
    nodes = (
        node for statement in program.statements for node in nodes_in(statement.node) if sign_of(node) in {"*", "@"}
    )
    return any({*map(name_of, sides_of(node) or ())} == {tensor, other} for node in nodes)


def _held(name: str, names: list[str], fit: Fit) -> str | None:
    """The one of *names* whose gradient *name* holds, in every run."""
    others = (other for other in names if other != name)
    return next((other for other in others if all(fit.fits_as(name, other, run) for run in RUNS)), None)


def _ring(name: str, holds: Mapping[str, str]) -> list[str]:
    """The names that hold each other's gradients in turn, from *name* on; empty where they do not come round to it."""
    ring = [name]
    while (after := holds.get(ring[-1])) is not None and after not in ring:
        ring.append(after)
    return ring if len(ring) > 1 and holds.get(ring[-1]) == name else []
