"""The exercises that items are drawn from: those of the table of operations."""

from collections.abc import Mapping

from app.grading.operations.row import OperationExercise
from app.grading.operations.table import EXERCISES

OPERATIONS: Mapping[str, OperationExercise] = {exercise.name: exercise for exercise in EXERCISES}
HEAP = "heap"
"""Beside the operations: a matrix product of more than two axes is taught by a lesson of its own."""
FORKS = frozenset({"overwritten", "share-missing"})
"""Slips that any tensor with several readers can show."""
SQUARE = frozenset({"matmul-order", "transposed"})
"""Slips that sizes tell apart unless they are equal."""
OF_A_NUMBER = frozenset({
    "sign", "minus-missing", "factor", "factor-missing", "factor-extra", "mean", "mean-missing", "mean-for-sum",
    "divisor-missing", "divided", "divided-by", "multiplied", "doubled", "halved", "constant-missing",
    "constant-changed", "constant-twice",
})  # fmt: skip
"""Slips in a number, which no step can show that only picks entries or moves them."""
MOVING = frozenset({"index", "layout"})
"""Families of such steps."""
