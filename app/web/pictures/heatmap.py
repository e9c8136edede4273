"""`heatmap`: a matrix of numbers by colour: one hue below zero, one above, stronger with size."""

from collections.abc import Sequence
from math import sqrt

from markupsafe import Markup

from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import NARROW, format_decimals, number_table, svg_picture, svg_tag, svg_text

CELL = 16.0
LEFT, TOP = 40.0, 26.0
LETTER = 7.25  # width of one letter of the code face at 12 px
LARGE_LETTER = 9.67  # the same at 16 px: a wide map is made smaller on a phone, and its letters larger (visual.css)
LEVELS = 5
GAP = 6.0  # between two labels


def draw_heatmap(scene: PictureInput) -> Markup:
    """Draw `:given: {values: [[...]], rows: [...], columns: [...], marks: [...], sums: true}`."""
    values = _matrix(scene.given["values"])
    rows = _labels(scene.given.get("rows"), len(values))
    columns = _labels(scene.given.get("columns"), len(values[0]))
    marks = scene.given.get("marks")
    marked = [int(mark) for mark in marks] if isinstance(marks, list | tuple) else []
    sums = bool(scene.given.get("sums"))
    largest = max((abs(number) for row in values for number in row), default=0.0) or 1.0
    cell, left, width = _widths(rows, columns, LETTER, sums=sums)
    if width > NARROW:
        cell, left, width = _widths(rows, columns, LARGE_LETTER, sums=sums)
    square = f"h{cell:g}v{cell:g}h-{cell:g}z"
    parts = [
        svg_text(left + cell * (index + 0.5), TOP - 8, name, class_="figure-tick") for index, name in enumerate(columns)
    ]
    squares: dict[int, list[str]] = {}
    for index, row in enumerate(values):
        y = TOP + cell * index
        parts.append(svg_text(left - 6, y + cell / 2 + 4, rows[index], class_="figure-tick", anchor="end"))
        for column, value in enumerate(row):
            squares.setdefault(level(value, largest), []).append(f"M{left + cell * column:g} {y:g}{square}")
        if sums:
            total = left + cell * len(columns) + 8
            parts.append(
                svg_text(total, y + cell / 2 + 4, format_decimals(sum(row)), class_="figure-tick", anchor="start")
            )
    # One outline for all cells of a colour: a twentieth of the elements that a page would have to carry.
    parts += [svg_tag("path", d="".join(squares[strength]), data_heat=strength) for strength in sorted(squares)]
    for index, column in enumerate(marked):
        place = f"M{left + cell * column:g} {TOP + cell * index:g}{square}"
        parts.append(svg_tag("path", d=place, data_heat=level(values[index][column], largest), class_="heat-mark"))
    head = ("row", *columns, *(("sum",) if sums else ()))
    body = [
        (rows[index], *(format_decimals(number) for number in row), *((format_decimals(sum(row)),) if sums else ()))
        for index, row in enumerate(values)
    ]
    summary = f"Heat map of {len(values)} rows and {len(columns)} columns; the largest magnitude is {largest:.3g}."
    behind = number_table("The numbers", f"{len(values)} × {len(columns)} numbers", head, body)
    return svg_picture(width, TOP + cell * len(values) + 8, summary, parts) + behind


def _widths(rows: Sequence[str], columns: Sequence[str], letter: float, *, sums: bool) -> tuple[float, float, float]:
    """Width of a cell, of the labels of *rows* and of the whole map, where one letter is *letter* wide."""
    cell = max(CELL, GAP + letter * max(map(len, columns)))
    left = max(LEFT, 10 + letter * max(map(len, rows)))
    return cell, left, left + cell * len(columns) + (20 + 6 * letter if sums else 12)


def level(value: float, largest: float) -> int:
    """−5 … 5: how strong, and on which side of zero.

    By the square root, so that small numbers beside a large one can still be told from zero.
    """
    if not value:
        return 0
    strength = max(1, round(LEVELS * sqrt(abs(value) / largest)))
    return -strength if value < 0 else strength


def _matrix(value: object) -> list[list[float]]:
    if not isinstance(value, list | tuple) or not value:
        raise TypeError("heatmap wants rows of numbers")
    rows = [[float(item) for item in row] for row in value]
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError("the rows of a heat map have one length")
    return rows


def _labels(given: object, size: int) -> Sequence[str]:
    if isinstance(given, list | tuple) and len(given) == size:
        return [str(item) for item in given]
    return [str(index) for index in range(size)]
