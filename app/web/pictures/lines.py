"""`lines`: up to four rows of numbers against one, by powers of ten, or with even steps on that of x or on both."""

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import number_table, plain_number, svg_picture, svg_tag, svg_text

WIDTH, HEIGHT = 440.0, 268.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 16.0, 12.0, 32.0
MOST_TICKS = 7
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_lines(scene: PictureInput) -> Markup:
    """Draw `:given: {x: [...], lines: {name: [...]}}`; the axis of x runs as its numbers do."""
    x, drawn = scene.given["x"], scene.given["lines"]
    if not isinstance(x, list) or not isinstance(drawn, dict):
        raise TypeError("lines wants x and lines")
    rows = {str(name): [float(item) for item in row] for name, row in drawn.items()}
    plain = scene.given.get("plain")
    across = (_Even if plain else _Powers)(x, LEFT, WIDTH - RIGHT)
    up = (_Even if plain is True else _Powers)(
        [item for row in rows.values() for item in row], HEIGHT - BOTTOM, TOP, whole=True
    )
    parts = [
        svg_tag("path", d=f"M{LEFT:g} {up.at(at):.1f}H{WIDTH - RIGHT:g}", class_="curve-grid") for at, _ in up.ticks
    ]
    parts += [svg_text(LEFT - 8, up.at(at) + 4, label, class_="figure-tick", anchor="end") for at, label in up.ticks]
    parts += [svg_text(across.at(at), HEIGHT - 10, label, class_="figure-tick") for at, label in across.ticks]
    for number, row in enumerate(rows.values(), start=1):
        places = [(across.at(float(at)), up.at(item)) for at, item in zip(x, row, strict=True)]
        joined = "L".join(f"{at:.1f} {height:.1f}" for at, height in places)
        parts.append(svg_tag("path", d=f"M{joined}", class_=f"series series-{number}"))
        parts += [svg_tag("circle", cx=at, cy=height, r=2.5, class_=f"dot series-{number}") for at, height in places]
    summary = "; ".join(
        f"{name}: from {row[0]:.2g} to {row[-1]:.2g}, least {min(row):.2g}" for name, row in rows.items()
    )
    columns = zip(*rows.values(), strict=True)
    behind = number_table(
        "The numbers",
        "The same as a table",
        ("", *rows),
        [(plain_number(float(at)), *(f"{item:.2g}" for item in column)) for at, column in zip(x, columns, strict=True)],
    )
    legend = svg_tag(
        "ul", *(svg_tag("li", _sample(at), name) for at, name in enumerate(rows, start=1)), class_="legend"
    )
    return svg_picture(WIDTH, HEIGHT, summary, parts) + legend + behind


class _Even:
    """Numbers to places with even steps; *whole* ends on a step, else the axis runs as the values do."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, whole: bool = False) -> None:
        low, high = min(values), max(values)
        wide = (high - low) or abs(high) or 1.0
        step = next(number for number in _steps(wide) if wide / number < MOST_TICKS - 1)
        first, last = math.floor(low / step), math.ceil(high / step)
        self.first, self.last = (first * step, last * step) if whole else (values[0], values[-1])
        if not whole and self.first == self.last:
            self.first, self.last = low, high
        self.start, self.end = start, end
        inside = [at * step for at in range(first, last + 1) if whole or low <= at * step <= high]
        self.ticks = [(at, f"{at:.4g}".replace("-", "−")) for at in inside]

    def at(self, value: float) -> float:
        part = (value - self.first) / ((self.last - self.first) or 1.0)
        return self.start + (self.end - self.start) * part


def _steps(wide: float) -> Iterator[float]:
    """1, 2, 5, 10, … from well below *wide*."""
    power = math.floor(math.log10(wide)) - 2
    return (factor * 10.0**at for at in range(power, power + 5) for factor in (1, 2, 5))


class _Powers:
    """Numbers to places, by their logarithm."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, whole: bool = False) -> None:
        logs = [math.log10(float(value)) for value in values]
        self.first: float = math.floor(min(logs)) if whole else logs[0]
        self.last: float = math.ceil(max(logs)) if whole else logs[-1]
        self.start, self.end = start, end
        low, high = sorted((math.ceil(min(self.first, self.last)), math.floor(max(self.first, self.last))))
        powers = range(low, high + 1, max(1, math.ceil((high - low + 1) / MOST_TICKS)))
        self.ticks = [(10.0**power, _power(power)) for power in powers]

    def at(self, value: float) -> float:
        part = (math.log10(value) - self.first) / ((self.last - self.first) or 1.0)
        return self.start + (self.end - self.start) * part


def _power(exponent: int) -> str:
    return {0: "1", 1: "10"}.get(exponent, f"10{str(exponent).translate(RAISED)}")


def _sample(number: int) -> Markup:
    line = svg_tag("path", d="M4 5h26", class_=f"series series-{number}")
    return svg_tag("svg", line, width=34, height=10, viewBox="0 0 34 10", aria_hidden="true")
