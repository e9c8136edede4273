"""The backward step of any operation that is known here."""

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.diagnosis.linear import LINEAR_VJPS
from app.grading.diagnosis.rules import CURVES, VJPS, Node


def vjp(node: Node, position: int, g: Array) -> Array:
    """What *g* at the output of *node* sends to the operand at *position*, before a broadcast is undone.

    Raises:
        KeyError: No rule is known for the operation.
    """
    curve = CURVES.get(node.op)
    if curve is not None:
        return np.asarray(g * curve.local(node.operands[0].value, node.value))
    rule = VJPS.get(node.op) or LINEAR_VJPS[node.op]
    return np.asarray(rule(node, position, g))
