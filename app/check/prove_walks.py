"""Prove what is shown of a program with numbers in it: it can be read, and its gradients are what nudging finds."""

from collections.abc import Mapping

import numpy as np

from app.check.findings import Finding
from app.content.blocks import Forward, SourceLocation
from app.grading.operations.numerics import magnitude
from app.grading.reading.node import UntracedError
from app.grading.reading.walk import difference_quotients, trace_program

TOLERANCE = 1e-4  # relative to the largest entry; a quotient is good to about a millionth


def prove_walk(place: SourceLocation, forward: Forward, point: Mapping[str, object]) -> list[Finding]:
    """Findings about the walk of *forward* from *point*."""
    try:
        walk = trace_program(forward, point)
        real = [tensor_input.name for tensor_input in forward.inputs if tensor_input.real]
        measured = {name: difference_quotients(forward, point, name) for name in real}
    except UntracedError as error:
        message = f"{forward.name!r} cannot be walked with these numbers: {error}"
        return [Finding(place, "error", "no-walk", message)]
    for name, quotient in measured.items():
        gradient = walk.gradients.get(name, np.zeros(quotient.shape))
        if not np.allclose(gradient, quotient, rtol=0, atol=TOLERANCE * max(1.0, magnitude(quotient))):
            message = f"`d{name}` is shown as {gradient.tolist()}, and nudging finds {quotient.round(5).tolist()}."
            return [Finding(place, "error", "walk-differs", f"{message} Is there a corner or a jump at this point?")]
    return []
