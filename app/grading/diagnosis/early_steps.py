"""A gradient that goes on into the line which makes its tensor: it holds what comes back to an operand in there.

The code is `step-too-far`.
"""

import numpy as np

from app.grading.diagnosis.evidence import Array, Diagnosis, Observation, WrongGradient
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import sentences_of
from app.grading.forward.statements import ForwardStatement
from app.grading.reading.node import OpNode, UntracedError, reduce_to
from app.grading.reading.rules import backward
from app.grading.reading.tracer import trace_expression

SAY = sentences_of("early-steps")
CODE = "step-too-far"


@np.errstate(all="ignore")
def diagnose_early_step(case: WrongGradient, *, again: bool) -> Diagnosis | None:
    """Name the operand inside of the line that makes the tensor whose gradient the learner's tensor is.

    Args:
        again: Whether the gradient was there before its last line, which then overwrites it.
    """
    statement = next((each for each in case.statements if case.tensor in each.outputs), None)
    if statement is None or len(statement.outputs) > 1:
        return None
    view = GradientAnalysis(case)
    looks = [_operands(statement, look) for look in case.looks]
    for text in looks[0]:
        if text and all(view.equal(operands.get(text), look) for operands, look in zip(looks, case.looks, strict=True)):
            line = case.writes[-1].lineno if case.writes else 0
            say = SAY["again" if again else "once"]
            return case.told(CODE, say, operand=text, statement=statement.source, line=line)
    return None


def _operands(statement: ForwardStatement, look: Observation) -> dict[str, Array]:
    """By text: what comes back to each operand inside of *statement* from the gradient of what it makes."""
    arrays: dict[str, Array] = {}
    try:
        waiting: list[tuple[OpNode, Array]] = [
            (trace_expression(statement.node, look.forward, look.dims), look.reference)
        ]
        while waiting:
            node, g = waiting.pop(0)
            for position, operand in enumerate(node.operands):
                if operand.op != "number":
                    sent = reduce_to(backward(node, position, g), operand.value.shape)
                    arrays.setdefault(operand.text, sent)
                    waiting.append((operand, sent))
    except (UntracedError, KeyError, ValueError, IndexError, TypeError):
        return arrays
    return arrays
