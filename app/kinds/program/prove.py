"""Prove boxes for functions: the solution passes, mistakes hear their message, every case turns something down."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from app.check.findings import Finding, has_errors
from app.check.mutants import Mutant, mutants_of
from app.check.proof_setup import ProofSetup
from app.check.prove_boxes import prove_mistakes, prove_mutants, prove_own
from app.check.unanswered import UNANSWERED, not_proved
from app.content.blocks import FunctionBox, Lesson
from app.content.blocks.code_exercises import join_sources
from app.content.program.programs import is_python
from app.grading.judge.function_verdict import names_of
from app.grading.judge.verdict import RIGHT, Verdict
from app.syntax import without_style


async def prove_function(_: Lesson, box: FunctionBox, setup: ProofSetup) -> Sequence[Finding]:
    """Findings of one box."""
    grader = setup.grader
    findings = await prove_own(box, box, grader)
    if has_errors(findings):
        return findings
    findings += await prove_mistakes(
        box, [(declared_mistake, declared_mistake.code.source) for declared_mistake in box.mistakes], grader
    )
    if not setup.mutate:
        return findings
    mutants = tuple(
        mutant for mutant in mutants_of(box.solution.source, frozenset()) if _changes_learner_line(box, mutant)
    )
    tried = [*(mutant.code for mutant in mutants), *(declared_mistake.code.source for declared_mistake in box.mistakes)]
    verdicts = await asyncio.gather(*(grader.check(box, code) for code in tried))
    return findings + await prove_mutants(box, box, mutants, grader) + _idle(box, verdicts)


def _changes_learner_line(box: FunctionBox, mutant: Mutant) -> bool:
    """True if *mutant* is valid Python and differs on a line that the learner writes, not one of the starter."""
    if not is_python(mutant.code):
        return False
    starter_lines = {line.strip() for line in _lines(join_sources(box.above, box.starter.source))}
    before, after = Counter(_lines(box.solution.source)), Counter(_lines(mutant.code))
    lost, changed = before - after, after - before
    # Turning the sign of nothing changes nothing, and that of a normal draw makes another one.
    same = any(turned in name for turned in ("-0", "-torch.randn") for name in changed)
    return not same and any(name.strip() not in starter_lines for name in lost or changed)


def _lines(source: str) -> list[str]:
    return without_style(source).splitlines()


def _idle(box: FunctionBox, verdicts: list[Verdict]) -> list[Finding]:
    """Cases that turned down nothing of what was tried."""
    unanswered = next((verdict for verdict in verdicts if verdict.outcome in UNANSWERED), None)
    if unanswered is not None:
        return [not_proved(box.place, unanswered.message)]
    used = {
        name_verdict.name for verdict in verdicts for name_verdict in verdict.names if name_verdict.verdict not in RIGHT
    }
    message = "No wrong program that was tried fails here: this case may prove nothing."
    pairs = zip(names_of(box), box.cases, strict=True)
    return [Finding(case.place, "notice", "idle-case", message) for name, case in pairs if name not in used]
