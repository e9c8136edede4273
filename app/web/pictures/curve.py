"""The loss of a training run beside that of torch's, step by step, with the same numbers in a table behind.

The reference is a broad pale line and the learner's a thin one on top: where the two coincide, one lies in the other.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from app.engine.train.snapshot import Point, chart_span
from app.web.pictures.svg import format_decimals, number_table, svg_picture, svg_tag, svg_text

WIDTH, HEIGHT = 560.0, 256.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 10.0, 36.0
MAX_TABLE_ROWS = 20
SPACINGS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MAX_GRID_LINES = 6


@lru_cache(maxsize=256)
def draw_curve(points: tuple[Point, ...], steps: int, rates: tuple[float, float]) -> Markup:
    """The picture of a run of *steps* steps, as far as it has come; nothing before its first point.

    *rates* are those of the two halves; where they differ, the place is marked.

    While a run is young, the picture ends at the round number of steps that comes next.
    """
    if not points:
        return Markup()
    low, high, spacing = _range(
        [value for point in points for value in (point.own, point.reference) if value is not None]
    )
    plot = _CurveScale(chart_span(points[-1].step, steps), low, high)
    parts = [*_grid(plot, spacing), *_turn(plot, steps // 2, rates)]
    references = [(point.step, point.reference) for point in points if point.reference is not None]
    parts.append(plot.line(references, "curve-reference"))
    parts.append(plot.line([(point.step, point.own) for point in points], "curve-own"))
    last = points[-1]
    summary = f"Loss over {steps:,} steps, from {points[0].own:.2f} to {last.own:.2f} at step {last.step:,}."
    if last.reference is not None:
        summary += f" With autograd's gradients it is {last.reference:.2f} there."
    shown = points[:: max(1, math.ceil(len(points) / MAX_TABLE_ROWS))]
    shown = shown if shown[-1] is last else (*shown, last)
    behind = number_table(
        "The losses as a table",
        "Mean loss of the steps before",
        ("step", "your gradients", "autograd"),
        [
            (
                f"{point.step:,}",
                format_decimals(point.own, 4),
                "–" if point.reference is None else format_decimals(point.reference, 4),
            )
            for point in shown
        ],
    )
    return _legend() + svg_picture(WIDTH, HEIGHT, summary, parts) + behind


class _CurveScale:
    """Steps and losses to places."""

    def __init__(self, steps: int, low: float, high: float) -> None:
        self.steps, self.low, self.high = steps, low, high

    def x(self, step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / self.steps

    def y(self, loss: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - loss) / (self.high - self.low)

    def line(self, places: Sequence[tuple[int, float]], class_: str) -> Markup:
        joined = "L".join(f"{self.x(step):.1f} {self.y(loss):.1f}" for step, loss in places)
        return svg_tag("path", d=f"M{joined}", class_=class_) if joined else Markup()


def _range(values: Sequence[float]) -> tuple[float, float, float]:
    """Limits of the losses that are multiples of the spacing of the lines, and that spacing."""
    smallest, largest = min(values), max(values)
    for spacing in SPACINGS:
        low, high = math.floor(smallest / spacing) * spacing, math.ceil(largest / spacing + 1e-9) * spacing
        if (high - low) / spacing <= MAX_GRID_LINES:
            return low, high, spacing
    low, high = math.floor(smallest), math.ceil(largest)
    return low, high, (high - low) / MAX_GRID_LINES


def _grid(plot: _CurveScale, spacing: float) -> list[Markup]:
    parts = []
    for index in range(round((plot.high - plot.low) / spacing) + 1):
        loss = plot.low + index * spacing
        y = plot.y(loss)
        parts.append(svg_tag("path", d=f"M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}", class_="curve-grid"))
        parts.append(
            svg_text(LEFT - 8, y + 4, f"{loss:.2f}".rstrip("0").rstrip("."), class_="figure-tick", anchor="end")
        )
    for quarter in range(5):
        step = plot.steps * quarter // 4
        anchor = ("start", "middle", "middle", "middle", "end")[quarter]
        parts.append(svg_text(plot.x(step), HEIGHT - BOTTOM + 20, f"{step:,}", class_="figure-tick", anchor=anchor))
    return parts


def _turn(plot: _CurveScale, step: int, rates: tuple[float, float]) -> list[Markup]:
    """Marks where the learning rate changes."""
    early, late = rates
    if step > plot.steps or early == late:
        return []
    x = plot.x(step)
    return [
        svg_tag("path", d=f"M{x:.1f} {TOP:g}V{HEIGHT - BOTTOM:g}", class_="curve-fall"),
        svg_text(x - 6, TOP + 12, f"rate {early:g}, then {late:g}", class_="figure-note", anchor="end"),
    ]


def _legend() -> Markup:
    """Beside the picture and not in it: a narrow window shows a part of the picture, and what its lines mean whole."""
    samples = (("curve-own", "your gradients"), ("curve-reference", "autograd, same start and batches"))
    return svg_tag("ul", *(svg_tag("li", _sample(class_), meaning) for class_, meaning in samples), class_="legend")


def _sample(class_: str) -> Markup:
    line = svg_tag("path", d="M4 5h26", class_=class_)
    return svg_tag("svg", line, width=34, height=10, viewBox="0 0 34 10", aria_hidden="true")
