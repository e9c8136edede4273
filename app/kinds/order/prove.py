"""Prove an order of lines: drawn anew, from all that count as right, it gives what the box asks for."""

import asyncio

from app.check.findings import Finding
from app.check.proof_setup import ProofSetup
from app.check.unanswered import NO_ANSWER, not_proved
from app.content.blocks import Code, Grad, Lesson
from app.content.program.dependence import drawn_order, needs_of, read_line
from app.content.program.programs import tensor_of
from app.engine.task import grad_task_of
from app.kinds.order.block import OrderQuestion

DRAWN = 3


async def prove_order(lesson: Lesson, order: OrderQuestion, setup: ProofSetup) -> list[Finding]:
    """Findings about *order*; lines that belong to no program cannot be run."""
    box = lesson.exercise(order.of) if order.of else None if order.steps else _box(lesson, order)
    if not isinstance(box, Grad):
        return []
    needs, task = needs_of(order.lines), grad_task_of(lesson, box)
    drawn = dict.fromkeys(drawn_order(needs, f"{order.name} {seed}") for seed in range(DRAWN))
    codes = ["\n".join(order.lines[line] for line in item) + "\n" for item in drawn]
    verdicts = await asyncio.gather(*(setup.grader.check(task, code) for code in codes))
    findings = []
    for code, verdict in zip(codes, verdicts, strict=True):
        if verdict.message in NO_ANSWER:
            findings.append(not_proved(order.place, verdict.message))
        elif not verdict.passed:
            lines = " / ".join(code.splitlines())
            message = f"This order counts as right, and {box.name!r} refuses it: {lines}"
            findings.append(Finding(order.place, "error", "order-refused", message))
    return findings


def _box(lesson: Lesson, order: OrderQuestion) -> Grad | None:
    """Code box that asks for the gradients of these lines; None if they write none."""
    forward = lesson.forward(order.forward)
    if forward is None:
        return None
    names = dict.fromkeys(name for line in order.lines for name in sorted(read_line(line).writes))
    require = tuple(name for name in names if tensor_of(name, forward))
    code = Code(place=order.place, source="\n".join(order.lines), line=order.place.line)
    return Grad(place=order.place, name=order.name, forward=forward.name, require=require, starter=code, solution=code)
