"""Pictures of a lesson, drawn on the server as SVG with the same numbers in a table behind.

They print, work without JavaScript, follow the theme (colours are classes, never attributes), and say everything twice:
once for the eye, once as a table. A picture that cannot be drawn is left out; its caption still stands.
"""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from app.content.blocks import Forward, Visual
from app.grading.forward.facts import Shape
from app.grading.reading.node import UntracedError
from app.web.pictures.broadcast import broadcast
from app.web.pictures.curves import curves
from app.web.pictures.forces import forces
from app.web.pictures.graph import graph
from app.web.pictures.heatmap import heatmap
from app.web.pictures.lines import lines
from app.web.pictures.product_cells import cells
from app.web.pictures.samples import samples
from app.web.pictures.scene import Scene
from app.web.pictures.slider import slider
from app.web.pictures.tape import tape

Draw = Callable[[Scene], Markup]

KINDS: dict[str, Draw] = {
    "broadcast": broadcast,
    "cells": cells,
    "curves": curves,
    "forces": forces,
    "graph": graph,
    "heatmap": heatmap,
    "lines": lines,
    "samples": samples,
    "slider": slider,
    "tape": tape,
}


def draw(visual: Visual, shapes: Mapping[str, Shape], forward: Forward | None = None) -> Markup:
    """The picture of *visual*, without its caption.

    Args:
        shapes: Of the tensors of the forward program that *visual* names.
        forward: That program, where there is one.

    Returns:
        An SVG and a table in a disclosure; nothing for a kind or for values that cannot be drawn.
    """
    kind = KINDS.get(visual.kind)
    if kind is None:
        return Markup()
    try:
        return kind(
            Scene(given=visual.given, name=visual.name, at=visual.at, of=visual.of, forward=forward, shapes=shapes)
        )
    except (ArithmeticError, IndexError, KeyError, TypeError, UntracedError, ValueError):
        return Markup()
