"""Prove code boxes: the solution passes, and everything wrong is refused with its reason."""

import asyncio
from collections.abc import Iterable, Sequence

from app.bindings import reads_of
from app.check.findings import Finding
from app.check.mutants import Mutant
from app.check.unanswered import NO_ANSWER, UNANSWERED, not_proved, to_author
from app.content.blocks import (
    Bug,
    Checker,
    Code,
    CorrectLine,
    DeclaredMistake,
    FunctionBox,
    Grad,
    SourceLocation,
)
from app.engine.grader import ProvingGrader
from app.engine.task import AnyTask
from app.grading.forward.facts import Facts
from app.grading.judge.verdict import RIGHT, NameVerdict, Standing, Verdict
from app.syntax import names_stored, nodes_in, parse_code, without_style

STARTER_PASSES = "The starter already passes: leave a blank `____` for the learner."
STANDS: dict[Standing, str] = {
    "wrong": "is wrong",
    "follows": "is off because another one is",
    "not-yet": "is not there yet",
    "aliased": "does not keep its value",
    "mutated": "comes with a change of what is given",
}
"""How a name stands that is not right, as part of a sentence that begins with the name."""
Told = DeclaredMistake | CorrectLine


async def prove_own(task: AnyTask, box: Grad | Checker | FunctionBox, grader: ProvingGrader) -> list[Finding]:
    """The starter does not pass, and each of the author's solutions does."""
    codes = (box.solution, *box.alternatives)
    checks = (grader.check(task, code.source) for code in (box.starter, *codes))
    starter, *solutions = await asyncio.gather(*checks)
    proved = [prove_solution(code, verdict) for code, verdict in zip(codes, solutions, strict=True)]
    return sum(proved, prove_starter(box.starter, starter))


def prove_names(box: Grad | Bug, facts: Facts) -> list[Finding]:
    """Every required name is a gradient that the program has."""
    unknown = [name for name in box.require if name[1:] not in facts.gradable]
    if not unknown:
        return []
    names = ", ".join(f"d{name}" for name in facts.gradable)
    message = f"{', '.join(unknown)}: no gradient reaches there. Gradients of this program: {names}."
    return [Finding(box.place, "error", "no-gradient", message)]


def prove_starter(starter: Code, verdict: Verdict, message: str = STARTER_PASSES) -> list[Finding]:
    """Something is left to be done."""
    if verdict.message in NO_ANSWER:
        return [not_proved(starter.place, verdict.message)]
    return [Finding(starter.place, "error", "starter-passes", message)] if verdict.passed else []


def prove_solution(code: Code, verdict: Verdict) -> list[Finding]:
    """The author's own code passes; remarks on it are passed on."""
    if verdict.passed:
        notes = [name_verdict for name_verdict in verdict.names if name_verdict.note]
        return [Finding(code.place, "notice", "vacuous", f"`{note.name}`: {note.note}") for note in notes]
    if verdict.message in NO_ANSWER:
        return [not_proved(code.place, verdict.message)]
    if verdict.message and verdict.outcome != "graded":
        message = f"The solution ends in {verdict.outcome}: {to_author(verdict.message)}"
        return [Finding(_line_of(code, verdict.line), "error", "solution-fails", message)]
    wrong = [name_verdict for name_verdict in verdict.names if name_verdict.verdict not in RIGHT]
    line = next((name_verdict.line for name_verdict in wrong if name_verdict.line), None)
    reasons = " ".join(_verdict_text(name_verdict) for name_verdict in wrong)
    return [Finding(_line_of(code, line), "error", "solution-fails", f"The solution does not pass. {reasons}")]


def _verdict_text(name_verdict: NameVerdict) -> str:
    """A verdict as a sentence; one with a word of its own may speak of something that is no gradient."""
    own = bool(name_verdict.word) and name_verdict.verdict != "follows"
    return (
        f"{name_verdict.name} ({name_verdict.word}): {name_verdict.message}"
        if own
        else f"{name_verdict.name} {STANDS[name_verdict.verdict]}: {name_verdict.message}"
    )


def prove_alone(mistake: DeclaredMistake, required: Sequence[str]) -> Finding | None:
    """A mistake that reads a *required* name before it writes it dies of that, and not of what its message says."""
    written: set[str] = set()
    for statement in parse_code(mistake.code.source).body:
        read, _ = reads_of(nodes_in(statement))
        early = next((name for name in required if name in read - written), None)
        if early is not None:
            message = (
                f"This mistake reads `{early}` before writing it. It is run alone: put the line of `{early}` above."
            )
            return Finding(_line_of(mistake.code, statement.lineno), "error", "mistake-not-alone", message)
        written |= names_stored(statement)
    return None


async def prove_mistakes(
    task: AnyTask, mistake_codes: Sequence[tuple[Told, str]], grader: ProvingGrader
) -> list[Finding]:
    """The code of each mistake is refused, with its own message and not with that of another one."""
    verdicts = await asyncio.gather(*(grader.check(task, code) for _, code in mistake_codes))
    declared = [mistake for mistake, _ in mistake_codes]
    return [
        finding
        for mistake, verdict in zip(declared, verdicts, strict=True)
        for finding in _check_message_shown(mistake, verdict, declared)
    ]


def _check_message_shown(mistake: Told, verdict: Verdict, declared: Sequence[Told]) -> list[Finding]:
    if verdict.outcome in UNANSWERED:
        return [not_proved(mistake.place, verdict.message)]
    written = [name_verdict for name_verdict in verdict.names if name_verdict.verdict != "not-yet"]
    if verdict.passed or (
        verdict.outcome == "graded" and written and all(name_verdict.verdict in RIGHT for name_verdict in written)
    ):
        return [Finding(mistake.place, "error", "mistake-passes", "This mistake passes: it is not wrong.")]
    shown = [name_verdict.message for name_verdict in verdict.names] + [verdict.message]
    if mistake.message in shown:
        return []
    first = next(
        (name_verdict.message for name_verdict in verdict.names if name_verdict.verdict == "wrong"), verdict.message
    )
    twin = next((block for block in declared if block.message == first), None)
    if twin is not None:
        message = f"This mistake cannot be told from the one on line {twin.place.line}, whose message is given: {first}"
        return [Finding(mistake.place, "error", "mistakes-collide", message)]
    message = f"This mistake is refused, but with another message: {first}"
    return [Finding(mistake.place, "error", "mistake-unheard", message)]


async def prove_mutants(
    task: AnyTask, box: Grad | Checker | FunctionBox, mutants: Iterable[Mutant], grader: ProvingGrader
) -> list[Finding]:
    """No mutant passes, but for those that the author lists as equally right."""
    mutants = tuple(mutants)
    verdicts = await asyncio.gather(*(grader.check(task, mutant.code) for mutant in mutants))
    equal = {_without_spaces(code.source) for code in box.alternatives}
    accepted = (mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict.passed)
    findings = [
        _accepted_mutant_finding(box.solution, mutant)
        for mutant in accepted
        if _without_spaces(mutant.code) not in equal
    ]
    unanswered = dict.fromkeys(verdict.message for verdict in verdicts if verdict.outcome in UNANSWERED)
    return findings + [not_proved(box.solution.place, message) for message in unanswered]


def _accepted_mutant_finding(solution: Code, mutant: Mutant) -> Finding:
    line = mutant.code.splitlines()[min(mutant.line, mutant.code.count("\n") + 1) - 1]
    message = (
        f"The exercise accepts a wrong solution ({mutant.edit}): `{line}`. "
        "If it is right after all, list it as a second solution with :same-as:."
    )
    return Finding(_line_of(solution, mutant.line), "error", "mutant-passes", message)


def _without_spaces(code: str) -> str:
    # By syntax, not by text: `x ** -2` and `x ** (-2)` are the same program.
    return without_style(code)


def _line_of(code: Code, line: int | None) -> SourceLocation:
    return SourceLocation(code.place.path, code.line + (line or 1) - 1)
