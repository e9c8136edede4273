"""Parts of a forward line that stand in the gradient as they are, where their derivative belongs.

| code | what the learner has |
|---|---|
| `undifferentiated` | what comes back to a part, times that part: `de * a * (1 - h ** 2)` for `e = (1 - h ** 2) * a` |
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from app.grading.diagnosis.evidence import Array, Hypothesis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import names_in
from app.grading.forward.statements import GradientPath

SAY = sentences_of("undifferentiated")


def undifferentiated_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    seen = set[object]()
    for path, depth, step in view.every_step():
        part = step.node.expr
        # One operation alone has slips of its own.
        if part is None or part in seen or not step.below:
            continue
        seen.add(part)
        names = tuple(sorted(names_in([part]) - {view.case.name}))
        predict = partial(_times_itself, view, path, depth)
        yield view.hypothesis("undifferentiated", predict, SAY["itself"], names, part=step.node.text)


def _times_itself(view: GradientAnalysis, path: GradientPath, depth: int, look: Observation) -> Array | None:
    steps = view.steps(path, look)
    if depth >= len(steps) or steps[depth].y.shape != look.reference.shape:
        return None
    part = steps[depth]
    through = [
        other for other in view.paths if any(step.node.expr is part.node.expr for step in view.steps(other, look))
    ]
    rest = look.reference - sum(look.shares[other.key] for other in through)
    return np.asarray(rest + part.g * part.y)
