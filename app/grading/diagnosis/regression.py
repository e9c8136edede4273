"""Regression of one tensor on others."""

import numpy as np

from app.grading.diagnosis.evidence import Array
from app.grading.operations.numerics import magnitude

CONDITION_MAX = 1e6


def solve_coefficients(columns: Array, wanted: Array, slack: float) -> Array | None:
    """The coefficients with which *columns* add up to *wanted*; None where none do, or many."""
    lengths = np.linalg.norm(columns, axis=0)
    if len(columns) < len(lengths) or not lengths.all():
        return None
    unit = columns / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    if values[0] <= values[-1] / CONDITION_MAX**2 or values[0] <= 0:
        return None
    coefficients = vectors @ ((vectors.T @ (unit.T @ wanted)) / values)
    # One step of refinement: the normal equations alone lose half of the digits.
    coefficients += vectors @ ((vectors.T @ (unit.T @ (wanted - unit @ coefficients))) / values)
    return None if magnitude(unit @ coefficients - wanted) > slack else np.asarray(coefficients / lengths)
