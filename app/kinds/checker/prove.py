"""Prove checkers: the solution passes, and a check that always answers the same is told of every case it misjudges."""

import asyncio
from collections.abc import Sequence

from app.check.findings import Finding, has_errors
from app.check.mutants import mutants_of
from app.check.proof_setup import ProofSetup
from app.check.prove_boxes import prove_mutants, prove_own
from app.check.unanswered import UNANSWERED, not_proved
from app.content.blocks import Checker, Lesson
from app.grading.judge.verdict import RIGHT, Verdict


async def prove_checker(_: Lesson, checker: Checker, setup: ProofSetup) -> Sequence[Finding]:
    """Findings of one checker."""
    grader = setup.grader
    findings, credulous, suspicious = await asyncio.gather(
        prove_own(checker, checker, grader),
        grader.check(checker, _always(checker, answer=True)),
        grader.check(checker, _always(checker, answer=False)),
    )
    if has_errors(findings):
        return findings
    findings += _check_messages_shown(checker, credulous, answer=True) + _check_messages_shown(
        checker, suspicious, answer=False
    )
    if not setup.mutate:
        return findings
    mutants = mutants_of(checker.solution.source, frozenset())
    return findings + await prove_mutants(checker, checker, mutants, grader)


def _always(checker: Checker, *, answer: bool) -> str:
    return f"def {checker.function}({', '.join(checker.arguments)}):\n    return {answer}\n"


def _check_messages_shown(checker: Checker, verdict: Verdict, *, answer: bool) -> list[Finding]:
    """Find the cases whose message is not shown to a check that always gives *answer*, though it is wrong there."""
    if verdict.outcome in UNANSWERED:
        return [not_proved(checker.place, verdict.message)]
    messages = [name_verdict.message for name_verdict in verdict.names if name_verdict.verdict not in RIGHT]
    missed = (case for case in checker.cases if case.right != answer and case.message and case.message not in messages)
    return [Finding(case.place, "error", "mistake-unheard", "Nobody hears this message.") for case in missed]
