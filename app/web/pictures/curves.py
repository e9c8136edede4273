"""`curves`: lines beside each other on one scale, each in a small window of its own, to be compared at a glance."""

from markupsafe import Markup

from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import format_decimals, number_table, svg_picture, svg_tag, svg_text

ACROSS = 3
WIDE, HIGH = 128.0, 84.0
GAP, LEFT, TOP = 16.0, 2.0, 16.0


def draw_curves(scene: PictureInput) -> Markup:
    """Draw `:given: {values: [[...], ...], rows: [...], columns: [...]}`, one window for each row.

    Raises:
        TypeError: The values are no list of rows.
    """
    values, names = scene.given["values"], scene.given["rows"]
    columns = scene.given.get("columns")
    if not isinstance(values, list) or not isinstance(names, list):
        raise TypeError("curves wants values: [[...]] and rows: [...]")
    every = [float(item) for row in values for item in row]
    low, high = min(every), max(every)
    parts: list[Markup] = []
    for index, (name, row) in enumerate(zip(names, values, strict=True)):
        x, y = LEFT + index % ACROSS * (WIDE + GAP), TOP + index // ACROSS * (HIGH + GAP + TOP)
        across, up = WIDE / max(1, len(row) - 1), HIGH / ((high - low) or 1)
        line = "L".join(f"{x + at * across:.1f} {y + (high - item) * up:.1f}" for at, item in enumerate(row))
        parts.append(svg_tag("path", d=f"M{x:g} {y:g}V{y + HIGH:g}H{x + WIDE:g}", class_="curve-grid"))
        parts.append(svg_tag("path", d=f"M{line}", class_="curve-own"))
        parts.append(svg_text(x + WIDE, y + 12, str(name), class_="figure-label", anchor="end"))
    down = -(-len(values) // ACROSS)
    summary = "; ".join(
        f"{name}: from {format_decimals(row[0], 2)} to {format_decimals(row[-1], 2)}"
        for name, row in zip(names, values, strict=True)
    )
    head = columns if isinstance(columns, list) else range(1, len(values[0]) + 1)
    behind = number_table(
        "The numbers",
        f"{len(values)} curves on one scale, from {format_decimals(low, 2)} to {format_decimals(high, 2)}",
        ("curve", *map(str, head)),
        [(str(name), *(format_decimals(item, 3) for item in row)) for name, row in zip(names, values, strict=True)],
    )
    width = LEFT + ACROSS * (WIDE + GAP)
    return svg_picture(width, down * (HIGH + GAP + TOP) + 6, f"{len(values)} curves. {summary}.", parts) + behind
