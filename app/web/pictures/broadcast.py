"""`broadcast`: copying forward and summing backward, drawn from two shapes as the two directions of one picture."""

from collections.abc import Mapping
from itertools import product
from math import prod

from markupsafe import Markup

from app.content.text.sizes import format_shape
from app.grading.forward.facts import Shape
from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import number_table, pointing_attributes, svg_picture, svg_tag, svg_text

CELL = 26.0
MOST_ROWS, MOST_COLUMNS = 5, 6
GAP = 34.0
TOP = 30.0
SIDE = 20.0


def draw_broadcast(scene: PictureInput) -> Markup:
    """Draw `:given: {from: [...], to: [...]}`, or the tensor *of* beside the output of its program."""
    small, large = _shapes(scene)
    copied = copied_axes(small, large)
    rows, columns = _plane(large)
    small_rows, small_columns = _plane(_padded(small, len(large)))
    paths = _paths(_padded(small, len(large)), large)
    panel = CELL * min(columns, MOST_COLUMNS) + 2 * SIDE
    height = TOP + CELL * (min(small_rows, MOST_ROWS) + min(rows, MOST_ROWS)) + GAP + 52
    parts = [
        *_panel(SIDE, TOP, (small_rows, small_columns), (rows, columns), paths, forward=True),
        *_panel(SIDE + panel, TOP, (small_rows, small_columns), (rows, columns), paths, forward=False),
        svg_text(panel / 2, 16, "forward: copied", class_="figure-number"),
        svg_text(panel * 1.5, 16, "backward: summed", class_="figure-number"),
        svg_text(panel, height - 28, f"{format_shape(small)} → {format_shape(large)}", class_="figure-code"),
        svg_text(panel, height - 8, f"summed over {_axes_text(copied)}", class_="figure-note"),
    ]
    copies = prod(large[axis] for axis in copied)
    summary = (
        f"Forward, {format_shape(small)} is copied to {format_shape(large)}: every entry stands there {copies} times. "
        f"Backward, the gradient is summed over {_axes_text(copied)}."
    )
    aligned = _padded(small, len(large))
    behind = number_table(
        "The shapes as a table",
        f"Broadcast of {format_shape(small)} to {format_shape(large)}",
        ("axis", "before", "after", "backward"),
        [
            (str(axis), str(before), str(after), "sum" if axis in copied else "stays")
            for axis, (before, after) in enumerate(zip(aligned, large, strict=True))
        ],
    )
    return svg_picture(2 * panel, height, summary, parts, shrinks=True) + behind


def copied_axes(small: Shape, large: Shape) -> tuple[int, ...]:
    """Axes of *large* along which *small* is copied.

    Raises:
        ValueError: *small* does not broadcast to *large*.
    """
    aligned = _padded(small, len(large))
    if any(before not in (1, after) for before, after in zip(aligned, large, strict=True)):
        raise ValueError(f"{small} does not broadcast to {large}")
    new = len(large) - len(small)
    return tuple(
        axis
        for axis, (before, after) in enumerate(zip(aligned, large, strict=True))
        if axis < new or (before == 1 and after != 1)
    )


def _shapes(scene: PictureInput) -> tuple[Shape, Shape]:
    given = scene.given
    if "from" in given and "to" in given:
        return _shape(given["from"]), _shape(given["to"])
    if scene.forward is None or scene.of is None:
        raise KeyError("broadcast wants from and to")
    name = scene.of if scene.of in scene.shapes else scene.of.removeprefix("d")
    return scene.shapes[name], scene.shapes[scene.forward.output]


def _shape(value: object) -> Shape:
    if not isinstance(value, list | tuple):
        raise TypeError("a shape is a list of sizes")
    return tuple(int(size) for size in value)


def _padded(shape: Shape, rank: int) -> Shape:
    if len(shape) > rank:
        raise ValueError(f"{shape} has more than {rank} axes")
    return (1,) * (rank - len(shape)) + shape


def _plane(shape: Shape) -> tuple[int, int]:
    """*shape* as rows and columns; further axes lie in the rows."""
    return (prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def _paths(small: Shape, large: Shape) -> Mapping[str, dict[str, str]]:
    """By key of a cell that is drawn: all places of the same number, before and after, and that in words."""
    rows, columns = (min(size, most) for size, most in zip(_plane(large), (MOST_ROWS, MOST_COLUMNS), strict=True))
    copies: dict[str, list[str]] = {}
    for row, column in product(range(rows), range(columns)):
        origin = f"s-{_row_before(row, small[:-1], large[:-1])}-{column if small and small[-1] > 1 else 0}"
        copies.setdefault(origin, []).append(f"l-{row}-{column}")
    count = prod(after for before, after in zip(small, large, strict=True) if before != after)
    sentence = (
        f"It stands in {count} places, and its gradient is the sum of theirs." if count > 1 else "It is not copied."
    )
    return {
        key: pointing_attributes(key, (name for name in (origin, *places) if name != key), sentence)
        for origin, places in copies.items()
        for key in (origin, *places)
    }


def _row_before(row: int, small: Shape, large: Shape) -> int:
    """The row of the plane before, of which *row* of the plane after is a copy."""
    place, step = 0, 1
    for before, after in zip(reversed(small), reversed(large), strict=True):
        row, index = divmod(row, after)
        place += step * (index if before > 1 else 0)
        step *= before
    return place


def _panel(
    left: float,
    top: float,
    small: tuple[int, int],
    large: tuple[int, int],
    paths: Mapping[str, dict[str, str]],
    *,
    forward: bool,
) -> list[Markup]:
    small_height = CELL * min(small[0], MOST_ROWS)
    upper, lower = (top, top + small_height + GAP)
    middle = left + CELL * min(large[1], MOST_COLUMNS) / 2
    start, end = (upper + small_height + 6, lower - 6) if forward else (lower - 6, upper + small_height + 6)
    tip = end - 7 if forward else end + 7
    return [
        *_grid(left, upper, small, "cell-given", small, paths, "s"),
        *_grid(left, lower, large, "cell-copy" if forward else "cell", small, paths, "l"),
        svg_tag("line", x1=middle, x2=middle, y1=start, y2=tip, class_="ground"),
        svg_tag("path", d=f"M{middle - 5:g} {tip:g}H{middle + 5:g}L{middle:g} {end:g}Z", class_="tip"),
        svg_text(
            middle + 14, (start + end) / 2 + 5, "copy" if forward else "sum", class_="figure-label", anchor="start"
        ),
    ]


def _grid(
    left: float,
    top: float,
    plane: tuple[int, int],
    class_: str,
    small: tuple[int, int],
    paths: Mapping[str, dict[str, str]],
    side: str,
) -> list[Markup]:
    rows, columns = plane
    parts = []
    for row in range(min(rows, MOST_ROWS)):
        for column in range(min(columns, MOST_COLUMNS)):
            original = row < small[0] and column < small[1] and class_ == "cell-copy"
            parts.append(
                svg_tag(
                    "rect",
                    x=left + CELL * column,
                    y=top + CELL * row,
                    width=CELL,
                    height=CELL,
                    class_="cell-given" if original else class_,
                    **paths.get(f"{side}-{row}-{column}", {}),
                )
            )
            if _is_ellipsis(row, rows, MOST_ROWS) or _is_ellipsis(column, columns, MOST_COLUMNS):
                parts.append(
                    svg_text(left + CELL * (column + 0.5), top + CELL * (row + 0.5) + 4, "·", class_="figure-label")
                )
    return parts


def _is_ellipsis(position: int, size: int, most: int) -> bool:
    """True if this cell stands for several that are not drawn: the last but one of a long side."""
    return size > most and position == most - 2


def _axes_text(axes: tuple[int, ...]) -> str:
    if not axes:
        return "no axis"
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"
