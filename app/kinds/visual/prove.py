"""Prove pictures that walk a program: each of their places can be walked."""

from collections.abc import Sequence

from app.check.findings import Finding
from app.check.proof_setup import ProofSetup
from app.check.prove_walks import prove_walk
from app.content.blocks import Lesson, Visual
from app.content.directives.visuals import PICTURE_KINDS


async def prove_picture(lesson: Lesson, visual: Visual, _: ProofSetup) -> Sequence[Finding]:
    """Findings about a picture that walks a program, at each of its places."""
    if not PICTURE_KINDS[visual.kind].walked:
        return []
    forward = lesson.forwards[visual.forward or ""]
    over = visual.given.get("over")
    places = over if isinstance(over, list) else [None]
    points = [visual.at if place is None else {**visual.at, visual.of or "": place} for place in places]
    findings = [finding for point in points for finding in prove_walk(visual.place, forward, point)]
    return findings[:1]
