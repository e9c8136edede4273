"""A number in the code that fits the lesson's own sizes only: right there, wrong on the hidden sizes.

| code | meaning |
|---|---|
| `size-hard-coded` | right on the visible sizes, wrong on hidden ones, and a literal of the code is a visible size |
"""

import numpy as np

from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.evidence import Diagnosis, Look, scale_of
from app.grading.diagnosis.naming import in_code, listed, upstream_name
from app.grading.diagnosis.phrases import sentences_of

SAY = sentences_of("size")
RIGHT = 1e-5
VACUOUS = 1e-4
SMALLEST = 2


def hard_coded(view: CaseView) -> Diagnosis | None:
    visible = view.case.visible
    if visible is not None and _fixed_shape(view, visible):
        return view.case.told("size-hard-coded", SAY["shape"], cure=_cure(view))
    if visible is None or not _right(visible):
        return None
    literals = [number for number in view.numbers if number in _sizes(view, visible)]
    if not literals:
        return None
    return view.case.told("size-hard-coded", SAY["number"], shown=", ".join(map(in_code, map(str, sorted(literals)))))


def _cure(view: CaseView) -> str:
    visible = view.case.visible
    if visible is not None and _right(visible):
        return SAY["cure"]
    arriving = dict.fromkeys(upstream_name(path) for path in view.paths)
    unread = "" if view.words & arriving.keys() else SAY["unread"].format(listed([*map(in_code, arriving)]))
    return f"{SAY['numbers']}{unread}"


def _fixed_shape(view: CaseView, visible: Look) -> bool:
    shape = visible.got.shape
    return shape == visible.reference.shape and all(
        look.got.shape == shape != look.reference.shape for look in view.case.looks
    )


def _right(visible: Look) -> bool:
    got, reference = np.asarray(visible.got), visible.reference
    if got.shape != reference.shape or got.dtype.kind not in "fiub":
        return False
    scale = float(np.abs(reference).max(initial=0.0))
    # A gradient that is zero but for rounding is right for many wrong lines.
    return scale > VACUOUS * scale_of(visible) and float(np.abs(got - reference).max(initial=0.0)) <= RIGHT * scale


def _sizes(view: CaseView, visible: Look) -> set[float]:
    """Sizes of the lesson that differ from the hidden ones, and one less."""
    looks = view.case.looks
    found: set[float] = set()
    for name, value in visible.forward.items():
        hidden = [look.forward[name].shape for look in looks if name in look.forward]
        for axis, size in enumerate(value.shape):
            if any(axis < len(shape) and shape[axis] != size for shape in hidden):
                found |= {size, size - 1, value.size}
    return {size for size in found if size >= SMALLEST}
