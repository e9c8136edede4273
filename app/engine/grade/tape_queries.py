"""The tape within reach of one judgement: references along another road, and the evidence for a diagnosis."""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from app.engine.grade.explanation_time import Budget, TimeUpError
from app.engine.grade.forward_references import HIDDEN, Study
from app.engine.grade.jail_runs import JailFailedError
from app.grading.diagnosis import sentences
from app.grading.diagnosis.diagnose import describe_unrecognised, diagnose
from app.grading.diagnosis.evidence import Case, Diagnosis
from app.grading.judge.compare import Array, Reference, References, Ruling
from app.grading.judge.plan import Plan
from app.grading.reading import budget

SPENT = "The time for explanations was spent before this line; mend the others first."
_LOG = logging.getLogger(__name__)


class Laboratory:
    """What a `Judge` may ask while it judges the submission that *plan* was read from."""

    def __init__(self, study: Study, ruling: Ruling, axes: Mapping[str, tuple[str, ...]], plan: Plan) -> None:
        self._study = study
        self._ruling = ruling
        self._axes = axes
        self._plan = plan
        self._budget = Budget()
        self._reading = budget.Budget()

    def along(self, name: str, drawn_on: Collection[str]) -> Mapping[str, Reference]:
        """The reference of *name* by hidden data set when only *drawn_on* is forced."""
        cut = _tensors(drawn_on)
        found = self._study.references({run: (run, cut) for run in HIDDEN}, [name[1:]])
        return {run: one[name[1:]] for run, one in found.items() if name[1:] in one}

    def every(self, drawn_on: Collection[str]) -> References:
        """The references of all gradients by hidden data set and tensor when only *drawn_on* is forced."""
        return self._study.references({run: (run, _tensors(drawn_on)) for run in HIDDEN}, self._study.gradable)

    def diagnosis(self, name: str, cut: Collection[str], got: Mapping[str, Array]) -> Diagnosis | None:
        """The mistake behind *got*, if a table holds it; with *cut* the gradients that are forced."""
        return self._asked(diagnose, name, cut, got)

    def unrecognised(self, name: str, cut: Collection[str], got: Mapping[str, Array]) -> Diagnosis:
        """True facts about *got*."""
        found = self._asked(describe_unrecognised, name, cut, got)
        if found is not None:
            return found
        found = sentences.differs(name)
        return replace(found, message=f"{found.message} {SPENT}") if self._budget.left <= 0 else found

    def _asked(
        self, ask: Callable[[Case], Diagnosis | None], name: str, cut: Collection[str], got: Mapping[str, Array]
    ) -> Diagnosis | None:
        if self._budget.left <= 0:
            return None
        try:
            case = self._case(name, cut, got)
            return self._budget.spend(lambda: ask(case))
        except JailFailedError:
            raise
        except TimeUpError:
            return None
        except Exception:
            # A table that stumbles over an odd tensor must not cost the learner the verdict.
            _LOG.exception("the diagnosis of %s failed", name)
            return None

    def _case(self, name: str, cut: Collection[str], got: Mapping[str, Array]) -> Case:
        tensor = name[1:]
        looks = self._study.looks(tensor, _tensors(cut), _tensors(self._ruling.forced), got)
        return Case(
            name=name,
            tensor=tensor,
            statements=self._study.program.statements,
            paths=self._study.program.paths(tensor),
            looks=tuple(looks[one] for one in HIDDEN),
            visible=looks.get("v"),
            axes=self._axes,
            writes=tuple(line.node for line in self._plan.writing(name)),
            lines=tuple(line.node for line in self._plan.lines),
            budget=self._reading,
        )


def _tensors(names: Collection[str]) -> list[str]:
    return sorted(name[1:] for name in names)
