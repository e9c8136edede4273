"""Pictures of a lesson, drawn on the server as SVG with the same numbers in a table behind.

They print, work without JavaScript, follow the theme (colours are classes, never attributes), and say everything twice:
once for the eye, once as a table. A picture that cannot be drawn is left out; its caption still stands.
"""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from app.content.blocks import Forward, Visual
from app.grading.forward.facts import Shape
from app.grading.reading.node import UntracedError
from app.web.pictures.broadcast import draw_broadcast
from app.web.pictures.curves import draw_curves
from app.web.pictures.forces import draw_forces
from app.web.pictures.graph import draw_graph
from app.web.pictures.heatmap import draw_heatmap
from app.web.pictures.lines import draw_lines
from app.web.pictures.product_cells import draw_product_cells
from app.web.pictures.samples import draw_samples
from app.web.pictures.scene import PictureInput
from app.web.pictures.slider import draw_slider
from app.web.pictures.tape import draw_tape

Draw = Callable[[PictureInput], Markup]

PICTURE_RENDERERS: dict[str, Draw] = {
    "broadcast": draw_broadcast,
    "cells": draw_product_cells,
    "curves": draw_curves,
    "forces": draw_forces,
    "graph": draw_graph,
    "heatmap": draw_heatmap,
    "lines": draw_lines,
    "samples": draw_samples,
    "slider": draw_slider,
    "tape": draw_tape,
}


def draw_picture(visual: Visual, shapes: Mapping[str, Shape], forward: Forward | None = None) -> Markup:
    """The picture of *visual*, without its caption.

    Args:
        shapes: Of the tensors of the forward program that *visual* names.
        forward: That program, where there is one.

    Returns:
        An SVG and a table in a disclosure; nothing for a kind or for values that cannot be drawn.
    """
    kind = PICTURE_RENDERERS.get(visual.kind)
    if kind is None:
        return Markup()
    try:
        return kind(
            PictureInput(
                given=visual.given, name=visual.name, at=visual.at, of=visual.of, forward=forward, shapes=shapes
            )
        )
    except (ArithmeticError, IndexError, KeyError, TypeError, UntracedError, ValueError):
        return Markup()
