"""`lines`: up to four rows of positive numbers against one, both axes by powers of ten."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from app.web.pictures.scene import Scene
from app.web.pictures.svg import picture, table, tag, text

WIDTH, HEIGHT = 440.0, 268.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 16.0, 12.0, 32.0
MOST_TICKS = 7
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def lines(scene: Scene) -> Markup:
    """Draw `:given: {x: [...], lines: {name: [...]}}`; the axis of x runs as its numbers do."""
    x, drawn = scene.given["x"], scene.given["lines"]
    if not isinstance(x, list) or not isinstance(drawn, dict):
        raise TypeError("lines wants x and lines")
    rows = {str(name): [float(one) for one in row] for name, row in drawn.items()}
    across = _Axis(x, LEFT, WIDTH - RIGHT)
    up = _Axis([one for row in rows.values() for one in row], HEIGHT - BOTTOM, TOP, whole=True)
    parts = [
        tag("path", d=f"M{LEFT:g} {up.at(10.0**power):.1f}H{WIDTH - RIGHT:g}", class_="curve-grid")
        for power in up.ticks
    ]
    parts += [
        text(LEFT - 8, up.at(10.0**power) + 4, _power(power), class_="figure-tick", anchor="end") for power in up.ticks
    ]
    parts += [text(across.at(10.0**power), HEIGHT - 10, _power(power), class_="figure-tick") for power in across.ticks]
    for number, row in enumerate(rows.values(), start=1):
        places = [(across.at(float(at)), up.at(one)) for at, one in zip(x, row, strict=True)]
        joined = "L".join(f"{at:.1f} {height:.1f}" for at, height in places)
        parts.append(tag("path", d=f"M{joined}", class_=f"series series-{number}"))
        parts += [tag("circle", cx=at, cy=height, r=2.5, class_=f"dot series-{number}") for at, height in places]
    summary = "; ".join(
        f"{name}: from {row[0]:.2g} to {row[-1]:.2g}, least {min(row):.2g}" for name, row in rows.items()
    )
    columns = zip(*rows.values(), strict=True)
    behind = table(
        "The numbers",
        "The same as a table",
        ("", *rows),
        [(f"{at:.2g}", *(f"{one:.2g}" for one in column)) for at, column in zip(x, columns, strict=True)],
    )
    legend = tag("ul", *(tag("li", _sample(at), name) for at, name in enumerate(rows, start=1)), class_="legend")
    return picture(WIDTH, HEIGHT, summary, parts) + legend + behind


class _Axis:
    """Numbers to places, by their logarithm."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, whole: bool = False) -> None:
        logs = [math.log10(float(one)) for one in values]
        self.first: float = math.floor(min(logs)) if whole else logs[0]
        self.last: float = math.ceil(max(logs)) if whole else logs[-1]
        self.start, self.end = start, end
        low, high = sorted((math.ceil(min(self.first, self.last)), math.floor(max(self.first, self.last))))
        self.ticks = range(low, high + 1, max(1, math.ceil((high - low + 1) / MOST_TICKS)))

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.first) / ((self.last - self.first) or 1.0)
        return self.start + (self.end - self.start) * part


def _power(exponent: int) -> str:
    return {0: "1", 1: "10"}.get(exponent, f"10{str(exponent).translate(RAISED)}")


def _sample(number: int) -> Markup:
    line = tag("path", d="M4 5h26", class_=f"series series-{number}")
    return tag("svg", line, width=34, height=10, viewBox="0 0 34 10", aria_hidden="true")
