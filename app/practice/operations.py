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
