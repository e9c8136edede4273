"""The setting of a proof: a grader, and all that an exercise may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.content.blocks import Lesson
from app.engine.grader import ProvingGrader
from app.grading.forward.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSetup:
    """Setting in which an exercise is proved.

    Args:
        facts: Of the forward programs of its lesson, by name; none of those that the exercise is about fails.
        lessons: All that an exercise may use.
        mutate: Whether every single-edit mutant of its solution is tried as well.
    """

    grader: ProvingGrader
    facts: Mapping[str, Facts] = field(default_factory=dict)
    lessons: Sequence[Lesson] = ()
    mutate: bool = True
