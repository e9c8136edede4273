"""What shape each operation gives, by its name: torch's functions and methods, with shapes in the place of tensors.

A rule takes what torch's function takes, and knows shapes alone. What it does not know raises `UnknownError`; shapes
that torch is sure to refuse raise `CollisionError`. An operation without a rule, such as one whose shape the numbers
decide, is unknown.
"""

from collections.abc import Mapping

from app.grading.reading.shape_rules import elsewhere, entries, made, matrices, parts

RULES_OF_SHAPE: Mapping[str, entries.Rule] = {
    name: rule for room in (entries, elsewhere, parts, matrices, made) for name, rule in room.RULES.items()
}
"""By name: methods of tensors, and functions of `torch`, `F` and `math`; in-place ones without their underscore."""
