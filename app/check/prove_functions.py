"""Prove boxes for functions: the solution passes, mistakes hear their message, every case turns something down."""

import ast
import asyncio
from collections import Counter

from app.check.findings import Finding
from app.check.mutants import Mutant, mutants_of
from app.check.prove_boxes import prove_mistakes, prove_mutants, prove_own
from app.check.unanswered import UNANSWERED, not_proved
from app.content.blocks import FunctionBox
from app.content.code_exercises import join_sources
from app.content.programs import SyntaxIssue, parse_program
from app.engine.grader import Grader
from app.engine.task import FunctionTask
from app.grading.judge.function_verdict import names_of
from app.grading.judge.verdict import RIGHT, Verdict


async def prove_function(box: FunctionBox, grader: Grader, *, mutate: bool) -> list[Finding]:
    """Findings of one box."""
    task = FunctionTask(box=box)
    found = await prove_own(task, box, grader)
    if any(one.level == "error" for one in found):
        return found
    found += await prove_mistakes(task, [(one, one.code.source) for one in box.mistakes], grader)
    if not mutate:
        return found
    mutants = tuple(one for one in mutants_of(box.solution.source, frozenset()) if _asked(box, one))
    tried = [*(one.code for one in mutants), *(one.code.source for one in box.mistakes)]
    verdicts = await asyncio.gather(*(grader.check(task, code) for code in tried))
    return found + await prove_mutants(task, box, mutants, grader) + _idle(box, verdicts)


def _asked(box: FunctionBox, mutant: Mutant) -> bool:
    """Whether *mutant* is Python and differs on a line that the learner writes, not on one that the starter gives."""
    mutated = parse_program(mutant.code)
    if isinstance(mutated, SyntaxIssue):
        return False
    given = {line.strip() for line in _lines(join_sources(box.above, box.starter.source))}
    before, after = Counter(_lines(box.solution.source)), Counter(ast.unparse(mutated).splitlines())
    lost, changed = before - after, after - before
    # Turning the sign of nothing changes nothing, and that of a normal draw makes another one.
    same = any(turned in one for turned in ("-0", "-torch.randn") for one in changed)
    return not same and any(one.strip() not in given for one in lost or changed)


def _lines(source: str) -> list[str]:
    return ast.unparse(ast.parse(source)).splitlines()


def _idle(box: FunctionBox, verdicts: list[Verdict]) -> list[Finding]:
    """Cases that turned down nothing of what was tried."""
    unanswered = next((one for one in verdicts if one.outcome in UNANSWERED), None)
    if unanswered is not None:
        return [not_proved(box.place, unanswered.message)]
    used = {one.name for verdict in verdicts for one in verdict.names if one.verdict not in RIGHT}
    message = "No wrong program that was tried fails here: this case may prove nothing."
    pairs = zip(names_of(box), box.cases, strict=True)
    return [Finding(case.place, "notice", "idle-case", message) for name, case in pairs if name not in used]
