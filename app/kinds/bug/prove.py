"""Prove bug hunts: what is given is wrong, its line mended is right, and every word about the others is heard."""

import asyncio
from collections.abc import Sequence

from app.check.findings import Finding, has_errors
from app.check.mutants import mutants_of
from app.check.proof_setup import ProofSetup
from app.check.prove_boxes import Told, prove_mistakes, prove_mutants, prove_names, prove_solution, prove_starter
from app.content.blocks import Bug, Lesson
from app.engine.task import hunt_task_of
from app.grading.judge.hunt_verdict import with_line


async def prove_bug(lesson: Lesson, bug: Bug, setup: ProofSetup) -> Sequence[Finding]:
    """The mended code passes with its line named; the given one does not, whatever is named."""
    grader = setup.grader
    if unknown := prove_names(bug, setup.facts[bug.forward]):
        return unknown
    task = hunt_task_of(lesson, bug)
    starter_verdict, mended = await asyncio.gather(
        grader.check(task.mending, bug.starter.source), grader.check(task, with_line(bug.solution.source, bug.line))
    )
    findings = prove_solution(bug.mended, mended)
    findings += prove_starter(
        bug.starter, starter_verdict, "The given code passes as it stands: nothing is wrong with it."
    )
    if starter_verdict.outcome == "error":
        message = "The wrong line stops with an error, which names it. Plant one that runs and gives other numbers."
        findings.append(Finding(bug.starter.place, "warning", "given-away", message))
    if has_errors(findings):
        return findings
    mistake_codes: list[tuple[Told, str]] = [
        (declared_mistake, with_line(declared_mistake.code.source, bug.line)) for declared_mistake in bug.mistakes
    ]
    mistake_codes += [
        (correct_line, with_line(bug.solution.source, correct_line.line)) for correct_line in bug.innocent
    ]
    findings += await prove_mistakes(task, mistake_codes, grader)
    if not setup.mutate:
        return findings
    last = bug.line + bug.mended.source.rstrip().count("\n")
    mutants = mutants_of(bug.solution.source, frozenset(bug.require))
    there = (mutant for mutant in mutants if bug.line <= mutant.line <= last)
    return findings + await prove_mutants(task.mending, task.mending.grad, there, grader)
