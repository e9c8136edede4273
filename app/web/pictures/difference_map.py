"""The map of a verdict: yours minus the reference, entry by entry, on a scale that diverges from zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from markupsafe import Markup

from app.grading.judge.verdict import STEPS, Differences
from app.web.pictures.svg import svg_picture, svg_tag, svg_text

LEFT, TOP, ROOM = 36.0, 18.0, 560.0
LARGEST, SMALLEST = 16.0, 3.0
SCALE_WIDTH, SCALE_HEIGHT = 168.0, 10.0


@dataclass(frozen=True, slots=True)
class DifferencesMap:
    """Map of differences: the drawing, the part of the tensor it shows, its largest value, and the pattern."""

    picture: Markup
    part: str
    largest: str
    pattern: str


def differences_map(differences: Differences) -> DifferencesMap:
    return DifferencesMap(
        _map_svg(differences), part_of(differences), f"{differences.largest:.2g}", differences.pattern
    )


def _map_svg(differences: Differences) -> Markup:
    rows, columns = len(differences.rows), len(differences.rows[0])
    cell = max(SMALLEST, min(LARGEST, ROOM // max(rows, columns)))
    width, height = max(cell * columns, SCALE_WIDTH), cell * rows
    cells = svg_tag(
        "g",
        *difference_strokes(differences.rows, differences.largest),
        transform=f"translate({LEFT:g} {TOP:g}) scale({cell:g})",
    )
    frame = svg_tag("rect", x=LEFT, y=TOP, width=cell * columns, height=height, class_="rule")
    first, left = differences.corner
    ticks = [
        svg_text(LEFT + cell / 2, TOP - 5, str(left), class_="figure-tick"),
        *(
            [svg_text(LEFT + cell * (columns - 0.5), TOP - 5, str(left + columns - 1), class_="figure-tick")]
            * (columns > 1)
        ),
        *(
            svg_text(LEFT - 5, TOP + cell * row + cell / 2 + 4, str(first + row), class_="figure-tick", anchor="end")
            for row in dict.fromkeys((0, rows - 1))
        ),
    ]
    scale = _scale(differences.largest, TOP + height + 14)
    summary = f"Map of {rows} × {columns} entries. {differences.pattern}"
    return svg_picture(LEFT + width + 12, TOP + height + 44, summary, [cells, frame, *ticks, *scale], shrinks=True)


def part_of(differences: Differences) -> str:
    """Which part of the tensor is drawn, in words."""
    rows, columns = len(differences.rows), len(differences.rows[0])
    *outer, last = differences.shape
    height = 1
    for size in outer:
        height *= size
    spans = [_span("row", rows, height, differences.corner[0]), _span("column", columns, last, differences.corner[1])]
    words = " and ".join(spans)
    return f"{words}; a row for each place along axes 0 to {len(outer) - 1}" if len(outer) > 1 else words


def _span(name: str, drawn: int, size: int, start: int) -> str:
    if drawn == size:
        return f"all {size} {name}s" if size > 1 else f"one {name}"
    return f"{name}s {start} to {start + drawn - 1} of {size:,}"


def difference_strokes(rows: Sequence[str], largest: float = 0.0) -> list[Markup]:
    """One line for equal neighbours, one path for each strength: a page carries few elements.

    Under the pointer each strength says how far off it is, where the *largest* difference is known.
    """
    lines: dict[str, list[str]] = {}
    for y, row in enumerate(rows):
        x = 0
        for step, run in groupby(row):
            length = len(list(run))
            lines.setdefault(step, []).append(f"M{x} {y}.5h{length}")
            x += length
    return [_stroke(step, "".join(lines[step]), largest) for step in sorted(lines) if step != "."]


def _stroke(step: str, path: str, largest: float) -> Markup:
    if step == "?":
        return svg_tag("path", svg_tag("title", "no number"), d=path, class_="differ-unfit")
    strength = (STEPS.index(step.lower()) + 1) / len(STEPS)
    class_, side = ("differ-over", "large") if step.islower() else ("differ-under", "small")
    words = [svg_tag("title", f"about {largest * strength:.2g} too {side}")] * bool(largest)
    return svg_tag("path", *words, d=path, class_=class_, stroke_opacity=strength)


@cache
def _scale_strokes() -> tuple[Markup, ...]:
    """All colours side by side: the same below every map, and half of what a map draws."""
    return tuple(difference_strokes([f"{STEPS[::-1].upper()}.{STEPS}"]))


def _scale(largest: float, y: float) -> list[Markup]:
    """Scale of the colours: from the largest difference below zero to the largest above."""
    steps = 2 * len(STEPS) + 1
    bar = svg_tag(
        "g",
        *_scale_strokes(),
        transform=f"translate({LEFT:g} {y:g}) scale({SCALE_WIDTH / steps:.3f} {SCALE_HEIGHT:g})",
    )
    frame = svg_tag("rect", x=LEFT, y=y, width=SCALE_WIDTH, height=SCALE_HEIGHT, class_="rule")
    labels = [
        (LEFT, "start", f"−{largest:.2g}"),
        (LEFT + SCALE_WIDTH / 2, "middle", "0"),
        (LEFT + SCALE_WIDTH, "end", f"{largest:.2g}"),
    ]
    return [
        bar,
        frame,
        *(svg_text(x, y + 24, words, class_="figure-tick", anchor=anchor) for x, anchor, words in labels),
    ]
