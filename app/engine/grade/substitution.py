"""The runs of a submission on true gradients: each gradient that it finishes gives way to its reference.

What is wrong above a line does not reach it there, and what it borrows is right. The lesson's own numbers are run in
float64 as well, so that what is left of a difference on them is no rounding.
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN, SETS
from app.grading.forward.driver_jobs import AttemptRun
from app.grading.judge.compare import Array, GradingOptions, Reference, References
from app.sandbox.wire import Reply

WIDE = "float64"


class StoppedError(Exception):
    """The submission did not come to its end on true gradients; it carries the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.ending)
        self.reply = reply


class Substitution:
    """The arrays and the runs of one box; nothing is computed before a submission needs it.

    Args:
        visible: The references on the lesson's own numbers.
    """

    def __init__(self, study: ForwardReferences, ruling: GradingOptions, visible: Mapping[str, Reference]) -> None:
        self._study = study
        self._ruling = ruling
        self._visible = visible

    @cached_property
    def references(self) -> References:
        """By data set: the references under the true upstream; on hidden data those of all gradients."""
        cuts = {name: (name, self._ruling.outputs) for name in HIDDEN}
        return {"v": self._visible, **self._study.references(cuts, self._study.gradable)}

    @cached_property
    def arrays(self) -> Mapping[str, Array]:
        """By key: tensors, and gradients that are given or put in place."""
        arrays_by_key: dict[str, Array] = {}
        for name in SETS:
            arrays_by_key |= {
                f"{name}/{tensor}": _wide(array) for tensor, array in self._study.sets[name].tensors.items()
            }
            arrays_by_key |= {f"{name}/d{tensor}": self._gradient(name, tensor) for tensor in self._tensors}
        return arrays_by_key

    @cached_property
    def runs(self) -> tuple[AttemptRun, ...]:
        return tuple(self._attempt_run(name) for name in SETS)

    def _attempt_run(self, name: str) -> AttemptRun:
        data = self._study.sets[name]
        required = [text for text in self._ruling.required if text[1:] not in self._given_tensors]
        gradients = {f"d{tensor}": f"{name}/d{tensor}" for tensor in self._given_tensors}
        return {
            "id": name,
            "dtype": WIDE,
            "visible": False,
            "dims": {**data.dims, **data.numbers},
            "scope": {tensor: f"{name}/{tensor}" for tensor in data.tensors} | gradients,
            "isolated": True,
            "forced": {text: f"{name}/{text}" for text in required},
        }

    @property
    def _given_tensors(self) -> list[str]:
        """The tensors whose gradients are in scope from the beginning."""
        return [*dict.fromkeys([*(name[1:] for name in self._ruling.given), *self._ruling.outputs])]

    @property
    def _tensors(self) -> list[str]:
        return [*dict.fromkeys([*self._given_tensors, *(name[1:] for name in self._ruling.required)])]

    def _gradient(self, name: str, tensor: str) -> Array:
        if tensor in self._ruling.outputs:
            return _wide(self._study.forced(name, tensor))
        return _wide(self.references[name][tensor].gradient)


def _wide(array: Array) -> Array:
    return array.astype(WIDE) if array.dtype == np.float32 else array
