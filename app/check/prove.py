"""Prove a course: every forward program runs, every solution passes, everything wrong is refused with its reason."""

import ast
import asyncio
from collections.abc import Iterable

from app.check.findings import Finding
from app.check.formulas import prove_formulas
from app.check.mutants import Mutant, mutants_of
from app.check.quizzes import prove_inference, prove_quiz
from app.check.training import prove_training
from app.content.blocks import Code, DeclaredMistake, Forward, Grad, Lesson, Place, Quiz
from app.engine.grader import Grader
from app.engine.task import Task, task_of
from app.grading.facts import Facts
from app.grading.verdict import Verdict

SHOWN_OUTCOMES = frozenset({"fault", "busy"})


async def prove(lessons: Iterable[Lesson], grader: Grader, *, mutate: bool = True) -> tuple[Finding, ...]:
    """Findings of all *lessons*, in file order.

    Args:
        mutate: Whether every single-edit mutant of every solution is tried as well.
    """
    lessons = list(lessons)
    formulas = asyncio.to_thread(prove_formulas, lessons)
    training = prove_training(lessons, grader)
    batches = await asyncio.gather(formulas, training, *(_lesson(lesson, grader, mutate=mutate) for lesson in lessons))
    return tuple(sorted((one for batch in batches for one in batch), key=_order))


def _order(finding: Finding) -> tuple[str, int, int]:
    return finding.place.path, finding.place.line, finding.place.column


async def _lesson(lesson: Lesson, grader: Grader, *, mutate: bool) -> list[Finding]:
    forwards = [block for block in lesson.blocks if isinstance(block, Forward)]
    facts = dict(zip((one.name for one in forwards), await asyncio.gather(*map(grader.facts, forwards)), strict=True))
    found = [_does_not_run(one, facts[one.name]) for one in forwards if facts[one.name].error]
    found += [wrong for one in forwards for wrong in prove_inference(one, facts[one.name])]
    work = []
    for block in lesson.exercises:
        if isinstance(block, Quiz):
            found += prove_quiz(lesson, block, facts)
        elif isinstance(block, Grad) and not facts[block.forward].error:
            work.append(_code_box(lesson, block, facts[block.forward], grader, mutate=mutate))
    return found + [one for batch in await asyncio.gather(*work) for one in batch]


def _does_not_run(forward: Forward, facts: Facts) -> Finding:
    return Finding(
        forward.place, "error", "forward-fails", f"The forward program {forward.name!r} fails: {facts.error}"
    )


async def _code_box(lesson: Lesson, grad: Grad, facts: Facts, grader: Grader, *, mutate: bool) -> list[Finding]:
    unknown = [name for name in grad.require if name[1:] not in facts.gradable]
    if unknown:
        names = ", ".join(f"d{name}" for name in facts.gradable)
        message = f"{', '.join(unknown)}: no gradient reaches there. Gradients of this program: {names}."
        return [Finding(grad.place, "error", "no-gradient", message)]
    task = task_of(lesson, grad)
    starter, *solutions = await asyncio.gather(
        grader.check(task, grad.starter.source),
        *(grader.check(task, code.source) for code in (grad.solution, *grad.alternatives)),
    )
    found = [_starter(grad, starter)] if starter.passed else []
    for code, verdict in zip((grad.solution, *grad.alternatives), solutions, strict=True):
        found += _solution(code, verdict)
    if any(one.level == "error" for one in found):
        return found
    mistakes = await asyncio.gather(*(_mistake(task, one, grader) for one in grad.mistakes))
    mutants = await _mutants(task, grad, grader) if mutate else []
    return found + [one for batch in mistakes for one in batch] + mutants


def _starter(grad: Grad, verdict: Verdict) -> Finding:
    assert verdict.passed
    message = "The starter already passes: leave a blank `____` for the learner."
    return Finding(grad.starter.place, "error", "starter-passes", message)


def _solution(code: Code, verdict: Verdict) -> list[Finding]:
    if verdict.passed:
        notes = [one for one in verdict.names if one.note]
        return [Finding(code.place, "notice", "vacuous", f"`{one.name}`: {one.note}") for one in notes]
    place = _line_of(code, verdict.line)
    if verdict.message and verdict.outcome != "graded":
        return [Finding(place, "error", "solution-fails", f"The solution ends in {verdict.outcome}: {verdict.message}")]
    reasons = [f"{one.name} is {one.verdict}: {one.message}" for one in verdict.names if "right" not in one.verdict]
    return [Finding(place, "error", "solution-fails", f"The solution does not pass. {' '.join(reasons)}")]


async def _mistake(task: Task, mistake: DeclaredMistake, grader: Grader) -> list[Finding]:
    verdict = await grader.check(task, mistake.code.source)
    if verdict.outcome in SHOWN_OUTCOMES:
        return [Finding(mistake.place, "error", "not-proved", verdict.message)]
    if verdict.passed:
        return [Finding(mistake.place, "error", "mistake-passes", "This mistake passes: it is not wrong.")]
    shown = [one.message for one in verdict.names] + [verdict.message]
    if mistake.message in shown:
        return []
    first = next((one.message for one in verdict.names if one.verdict == "wrong"), verdict.message)
    message = f"This mistake is refused, but with another message: {first}"
    return [Finding(mistake.place, "error", "mistake-unheard", message)]


async def _mutants(task: Task, grad: Grad, grader: Grader) -> list[Finding]:
    mutants = mutants_of(grad.solution.source, frozenset(grad.require))
    verdicts = await asyncio.gather(*(grader.check(task, mutant.code) for mutant in mutants))
    equal = {_squeezed(code.source) for code in grad.alternatives}
    accepted = (one for one, verdict in zip(mutants, verdicts, strict=True) if verdict.passed)
    return [_accepted(grad, one) for one in accepted if _squeezed(one.code) not in equal]


def _accepted(grad: Grad, mutant: Mutant) -> Finding:
    line = mutant.code.splitlines()[min(mutant.line, mutant.code.count("\n") + 1) - 1]
    message = (
        f"The exercise accepts a wrong solution ({mutant.edit}): `{line}`. "
        "If it is right after all, list it as a second solution with :same-as:."
    )
    return Finding(_line_of(grad.solution, mutant.line), "error", "mutant-passes", message)


def _squeezed(code: str) -> str:
    # By syntax, not by text: `x ** -2` and `x ** (-2)` are the same program.
    return ast.unparse(ast.parse(code))


def _line_of(code: Code, line: int | None) -> Place:
    return Place(code.place.path, code.line + (line or 1) - 1)
