"""What judging is given besides the submission: the author's wishes, the references, and the tape to ask."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.grading.diagnosis.evidence import Diagnosis
from app.grading.judge.compare import Array, Reference

References = Mapping[str, Mapping[str, Reference]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """How the author wants the box to be judged."""

    required: tuple[str, ...]
    given: tuple[str, ...]
    output: str
    rule_only: bool
    atol: float | None = None
    rtol: float | None = None

    @property
    def forced(self) -> frozenset[str]:
        """The gradients that every line is isolated by, as the learner writes them."""
        return frozenset((*self.required, *self.given, f"d{self.output}"))


class Laboratory(Protocol):
    """What judging may ask of the tape while it goes on."""

    def along(self, name: str, drawn_on: Collection[str]) -> Mapping[str, Reference]:
        """The reference of *name* by hidden data set when only *drawn_on* is forced."""
        ...

    def diagnosis(self, name: str, cut: Collection[str], got: Mapping[str, Array]) -> Diagnosis | None:
        """The mistake behind *got*, if a table holds it; with *cut* the gradients that are forced."""
        ...

    def unrecognised(self, name: str, cut: Collection[str], got: Mapping[str, Array]) -> Diagnosis:
        """True facts about *got*."""
        ...
