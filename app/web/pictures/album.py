"""Pictures that were drawn before. What a picture shows does not depend on who looks, nor on the theme."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Forward, Visual
from app.grading.forward.facts import Shape
from app.web.pictures import draw

MOST = 512


@dataclass(frozen=True, slots=True)
class Drawn:
    """*visual* is kept so that its identity stays its own; *shapes* are those that were known at the time."""

    visual: Visual
    shapes: Mapping[str, Shape]
    markup: Markup


class Album:
    """Draws each picture once, and again where more shapes are known than at the first time.

    Args:
        most: How many are kept; the one that was not asked for the longest goes first.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._drawn: OrderedDict[int, Drawn] = OrderedDict()

    def picture(self, visual: Visual, shapes: Mapping[str, Shape], forward: Forward | None = None) -> Markup:
        """What `draw` gives."""
        kept = self._drawn.get(id(visual))
        if kept is None or kept.shapes != shapes:
            kept = self._drawn[id(visual)] = Drawn(visual, shapes, draw(visual, shapes, forward))
        self._drawn.move_to_end(id(visual))
        while len(self._drawn) > self._most:
            self._drawn.popitem(last=False)
        return kept.markup
