"""The one table of operations, and the views of it that others read."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from app.grading.operations.arithmetic import ARITHMETIC
from app.grading.operations.curves import CURVES
from app.grading.operations.gates import GATES
from app.grading.operations.moves import MOVES
from app.grading.operations.numerics import Array
from app.grading.operations.picks import PICKING
from app.grading.operations.reductions import REDUCTIONS
from app.grading.operations.row import Operation, OperationExercise, OperationFamily
from app.grading.operations.values import VALUES

OPERATIONS: Mapping[str, Operation] = {
    row.name: row for row in (*ARITHMETIC, *CURVES, *GATES, *REDUCTIONS, *MOVES, *PICKING, *VALUES)
}
"""Every operation by its name."""
NAMES: Mapping[str, str] = {name: row.name for row in OPERATIONS.values() for name in (row.name, *row.also.split())}
"""By every name that torch has for it: the name of an operation."""
RULES: Mapping[str, tuple[str, ...]] = {row.name: row.back for row in OPERATIONS.values() if row.back}
"""By operation: what the upstream gradient sends to each operand, see `reading.rules`."""


FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    row.name: row.value for row in OPERATIONS.values() if row.form == "curve" and row.value is not None
}
"""By operation that acts entry by entry: its function in numpy."""


def call_form(name: str) -> str:
    """The form of the operation that torch calls *name*; empty where there is none."""
    return OPERATIONS[NAMES[name]].form if name in NAMES else ""


FAMILIES: Mapping[str, OperationFamily] = {
    "matmul": OperationFamily("Matrix products", frozenset(["factor"])),
    "attention": OperationFamily("Attention scores"),
    "broadcast": OperationFamily("Copies along an axis", frozenset(["copies"])),
    "activation": OperationFamily("Activations", frozenset(["local"])),
    "gate": OperationFamily("Gates", frozenset(["gate"])),
    "exponential": OperationFamily("Exponentials and logarithms", frozenset(["local"])),
    "power": OperationFamily("Powers", frozenset(["local"])),
    "reduction": OperationFamily("Sums and averages", frozenset(["addends"])),
    "softmax": OperationFamily("Softmax", frozenset(["shared"])),
    "norm": OperationFamily("Norms"),
    "layout": OperationFamily("Transposes and reshapes", frozenset(["moved"])),
    "fork": OperationFamily("Entry by entry, and tensors read twice", frozenset(["uses", "local"])),
    "index": OperationFamily("Looked-up rows", frozenset(["scatter"])),
    "convolution": OperationFamily("Convolution"),
}
"""Families of exercises in the order in which they are drawn from."""


def _exercises(row: Operation) -> list[OperationExercise]:
    """Those of *row*, each with its name and the rule that it follows."""
    return [
        replace(
            exercise,
            name=exercise.name or row.name,
            rule="" if exercise.back else exercise.rule or row.name,
            back=exercise.back or RULES[exercise.rule or row.name],
        )
        for exercise in row.exercises
    ]


EXERCISES: tuple[OperationExercise, ...] = tuple(
    sorted(
        (exercise for row in OPERATIONS.values() for exercise in _exercises(row)),
        key=lambda exercise: [*FAMILIES].index(exercise.family),
    )
)
"""Every exercise, family after family: what is drawn depends on the order."""
