"""Where an error sits, when nothing says what it is: some slices along an axis are wrong and all others are right.

| code | meaning |
|---|---|
| `part-missing:AXIS` | the wrong slices are zero: these positions were not handled |
| `part-wrong:AXIS` | the wrong slices hold something else |
"""

from collections.abc import Sequence

import numpy as np

from app.grading.diagnosis.case_view import DIFFERENT, CaseView
from app.grading.diagnosis.evidence import Array, Diagnosis, Look, scale_of
from app.grading.diagnosis.naming import axis_text, places_text
from app.grading.diagnosis.phrases import sentences_of

SAY = sentences_of("locality")
ROUGH = 1e-4
"""On the lesson's own numbers, in which float32 has gone through every line."""


def confined(view: CaseView) -> Diagnosis | None:
    if not view.shaped():
        return None
    for axis in range(view.case.looks[0].reference.ndim):
        marks = [_wrong_slices(view, look, axis) for look in view.case.looks]
        empty = _all_empty(view, axis, marks)
        if all(0 < mark.sum() <= (mark.size - 1 if empty else mark.size / 2) for mark in marks):
            return _found(view, axis, empty)
    return None


def _wrong_slices(view: CaseView, look: Look, axis: int) -> Array:
    return _slices(np.abs(view.got[id(look)] - look.reference) > DIFFERENT * view.scale[id(look)], axis)


def _slices(off: Array, axis: int) -> Array:
    return np.asarray(off.any(axis=tuple(other for other in range(off.ndim) if other != axis)))


def _seen(visible: Look | None, axis: int) -> str:
    """Where the lesson's own numbers are wrong, which everybody may see; hidden ones never tell their places."""
    if visible is None or visible.got.shape != visible.reference.shape:
        return "some positions"
    got = np.asarray(visible.got, dtype=np.float64)
    mark = _slices(np.abs(got - visible.reference) > ROUGH * scale_of(visible), axis)
    return places_text([mark]) if 0 < mark.sum() < mark.size else "some positions"


def _all_empty(view: CaseView, axis: int, marks: Sequence[Array]) -> bool:
    """Whether the wrong slices are zero in every look."""
    pairs = zip(view.case.looks, marks, strict=True)
    return all(not np.compress(mark, view.got[id(look)], axis).any() for look, mark in pairs)


def _found(view: CaseView, axis: int, zero: bool) -> Diagnosis:
    case, kind = view.case, "missing" if zero else "wrong"
    where = f"{_seen(case.visible, axis)} along {axis_text(case, case.tensor, axis)}"
    return case.told(f"part-{kind}:{axis}", SAY[kind], where=where)
