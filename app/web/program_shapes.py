"""Shapes of the tensors of a forward program, for quizzes and pictures.

They are inferred from the source; only where that leaves a name open is a grader asked, once per program.
"""

from collections.abc import Mapping

from app.content.blocks import Forward
from app.engine.grader import Grader
from app.grading.forward.facts import Shape
from app.grading.shapes.shape_inference import infer


class ShapesOf:
    """Shapes by forward program, kept for the life of the process (a program is identified by itself)."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._inferred: dict[int, tuple[Forward, Mapping[str, Shape]]] = {}
        self._asked: dict[int, Mapping[str, Shape]] = {}

    def inferred(self, forward: Forward) -> Mapping[str, Shape]:
        """What the source alone tells; nothing is run."""
        kept = self._inferred.get(id(forward))
        if kept is None:
            kept = self._inferred[id(forward)] = (forward, infer(forward))
        return kept[1]

    async def of(self, forward: Forward | None, *names: str) -> Mapping[str, Shape]:
        """Shapes of *forward* with at least *names*, if a grader can find them."""
        if forward is None:
            return {}
        shapes = self.inferred(forward)
        if all(name in shapes for name in names):
            return shapes
        asked = self._asked.get(id(forward))
        if asked is None:
            if self._grader.readiness.state != "ready":
                return shapes
            facts = await self._grader.facts(forward)
            if facts.error:
                return shapes
            asked = self._asked[id(forward)] = {**facts.shapes, **shapes}
        return asked
