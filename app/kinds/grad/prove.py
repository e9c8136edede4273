"""Prove boxes of gradients: the solution passes, and everything wrong is refused with its reason."""

from collections.abc import Sequence

from app.check.findings import Finding, has_errors
from app.check.mutants import mutants_of
from app.check.proof_setup import ProofSetup
from app.check.prove_boxes import prove_alone, prove_mistakes, prove_mutants, prove_names, prove_own
from app.check.prove_literals import literals_of_solution
from app.content.blocks import Grad, Lesson
from app.engine.grader import ProvingGrader
from app.engine.task import GradTask, grad_task_of


async def prove_grad(lesson: Lesson, grad: Grad, setup: ProofSetup) -> Sequence[Finding]:
    """The solution passes, the starter does not, mistakes hear their message, mutants are refused."""
    grader = setup.grader
    if unknown := prove_names(grad, setup.facts[grad.forward]):
        return unknown
    task = grad_task_of(lesson, grad)
    findings = await prove_own(task, grad, grader)
    if has_errors(findings):
        return await _for_a_number(findings, task, grad, grader)
    if unfounded := [
        early
        for declared_mistake in grad.mistakes
        if (early := prove_alone(declared_mistake, grad.require)) is not None
    ]:
        return findings + unfounded
    findings += await prove_mistakes(
        task, [(declared_mistake, declared_mistake.code.source) for declared_mistake in grad.mistakes], grader
    )
    tried = mutants_of(grad.solution.source, frozenset(grad.require)) if setup.mutate else ()
    return findings + await prove_mutants(task, grad, tried, grader)


async def _for_a_number(findings: list[Finding], task: GradTask, grad: Grad, grader: ProvingGrader) -> list[Finding]:
    """*found*, or the numbers in the place of sizes for which a solution does not pass."""
    failing = {finding.place.line for finding in findings if finding.code == "solution-fails"}
    codes = [
        code
        for code in (grad.solution, *grad.alternatives)
        if not failing.isdisjoint(range(code.place.line, code.line + code.source.count("\n") + 1))
    ]
    literals = [finding for code in codes for finding in await literals_of_solution(code, task, task.forward, grader)]
    return literals or findings
