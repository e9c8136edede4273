"""The exercises that items are drawn from, those of the table of operations, and the slips that they can show."""

from collections.abc import Iterable, Mapping

from app.grading.operations.row import OperationExercise
from app.grading.operations.table import EXERCISES

OPERATIONS: Mapping[str, OperationExercise] = {exercise.name: exercise for exercise in EXERCISES}
HEAP = "heap"
"""Beside the operations: a matrix product of more than two axes is taught by a lesson of its own."""
FORK = "fork"
"""The family of what is read more than once."""
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


def row_behind(line: str, operation: str) -> OperationExercise | None:
    """The exercise that *line* of a solution is of; None for an operation that is known no longer."""
    row = OPERATIONS.get(operation)
    if row and row.family == "broadcast" and ".sum(" not in line:
        return OPERATIONS[row.rule]  # the operand that was not copied
    return row


def can_show(line: str, operation: str, family: str, slip: str) -> bool:
    """True if *slip* at *family* can be made in *line*; in any of the family where no exercise is made for the slip."""
    if family == FORK and slip in FORKS:
        return "+=" in line
    row = row_behind(line, operation)
    known = slips_shown(OPERATIONS, family)
    return row is not None and row.family == family and (slip not in known or slip in slips_shown([row.name], family))


def slips_shown(operations: Iterable[str], family: str) -> frozenset[str]:
    """The slips that those of *operations* which are of *family* are made for."""
    rows = (OPERATIONS[name] for name in operations if name in OPERATIONS)
    return frozenset(slip.partition(":")[0] for row in rows if row.family == family for slip in row.shows)
