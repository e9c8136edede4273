"""`slider`: one input of a small program moved over a few places, with the output, and its slope as a tangent."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from app.grading.reading.walk import trace_program
from app.web.pictures.scene import PictureInput
from app.web.pictures.step_frames import Frame, code_markup, format_sentence, render_frames
from app.web.pictures.svg import NARROW, boxed_svg, number_table, plain_number, svg_drawing, svg_tag, svg_text

WIDTH, HEIGHT = NARROW, 220.0
LEFT, RIGHT, TOP, BOTTOM = 34.0, 14.0, 14.0, 34.0
CURVE = 60
LETTER = 8.0  # width of a digit below the picture, at most
REACH = 0.13  # of the width, to either side of the point


def draw_slider(scene: PictureInput) -> Markup:
    """Draw the output of `:forward:` against the input `:of:`, at each place of `over`."""
    forward, of, over = scene.forward, scene.of, scene.given["over"]
    if forward is None or of is None or not isinstance(over, list):
        raise KeyError("slider wants a program, an input and places")
    places = sorted(float(item) for item in over)
    points = [_at(scene, place) for place in places]
    grid = np.linspace(places[0], places[-1], CURVE).tolist()
    curve = [(x, _at(scene, x)[0]) for x in grid]
    plot = _SliderScale(places, [y for _, y in curve])
    steps = []
    for place, (value, slope) in zip(places, points, strict=True):
        sentence = format_sentence(
            "At {} = {} the output {} is {}. Its slope there, {}, is {}: {}.",
            code_markup(of), plain_number(place), code_markup(forward.output), plain_number(value),
            code_markup(f"d{of}"), plain_number(slope), _moves(slope),
        )  # fmt: skip
        steps.append(
            Frame(_slider_svg(plot, curve, (place, value), slope, places), f"{of} = {plain_number(place)}", sentence)
        )
    behind = number_table(
        "The places as a table",
        f"{forward.output} and its slope, by {of}",
        (of, forward.output, f"d{of}"),
        [tuple(map(plain_number, (place, *both))) for place, both in zip(places, points, strict=True)],
    )
    return render_frames(scene.name, steps, f"{forward.output} at {len(places)} places of {of}", slides=of) + behind


def _at(scene: PictureInput, place: float) -> tuple[float, float]:
    assert scene.forward is not None, "slider has looked"
    assert scene.of is not None, "slider has looked"
    walk = trace_program(scene.forward, {**scene.at, scene.of: place})
    return walk.values[scene.forward.output].item(), walk.gradients[scene.of].item()


def _moves(slope: float) -> str:
    if abs(slope) < 1e-9:
        return "a small step changes nothing"
    factor = plain_number(abs(slope))
    return f"a small step to the right {'raises' if slope > 0 else 'lowers'} it, " + (
        "just as far" if factor == "1" else f"{factor} times as far"
    )


class _SliderScale:
    """Places of the input and values of the output to places of the picture."""

    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self.low, self.high = min(*ys, 0.0), max(*ys, 0.0)
        self.first, self.last = xs[0], xs[-1]

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.first) / (self.last - self.first)

    def y(self, value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / ((self.high - self.low) or 1.0)

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)


def _slider_svg(
    plot: _SliderScale,
    curve: Sequence[tuple[float, float]],
    point: tuple[float, float],
    slope: float,
    places: Sequence[float],
) -> Markup:
    x, y = point
    reach = REACH * (plot.last - plot.first)
    steep = abs(slope) * reach / ((plot.high - plot.low) or 1.0) / 0.3
    reach /= max(1.0, steep)  # a steep tangent stays in the picture
    tangent = plot.path([(x - reach, y - slope * reach), (x + reach, y + slope * reach)])
    parts = [
        svg_tag("path", d=plot.path([(plot.first, 0.0), (plot.last, 0.0)]), class_="curve-grid"),
        svg_tag("path", d=plot.path(curve), class_="curve-own"),
        svg_tag("path", d=f"M{plot.x(x):.1f} {plot.y(y):.1f}V{plot.y(0):.1f}", class_="ground"),
        svg_tag("path", d=tangent, class_="edge edge-fork"),
        svg_tag("circle", cx=plot.x(x), cy=plot.y(y), r=6.0, class_="fork"),
        svg_text(LEFT - 6, plot.y(0) + 4, "0", class_="figure-label", anchor="end"),
    ]
    near = min((b - a for a, b in pairwise(places)), default=1.0) / (plot.last - plot.first) * WIDTH
    room = LETTER * (1 + max(len(plain_number(number)) for number in places))
    for place in places if near > room else (places[0], x, places[-1]):
        class_ = "figure-number" if place == x else "figure-label"
        parts.append(svg_text(plot.x(place), HEIGHT - 10, plain_number(place), class_=class_))
    return boxed_svg(svg_drawing(WIDTH, HEIGHT, parts), WIDTH)
