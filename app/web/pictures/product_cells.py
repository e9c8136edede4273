"""`cells`: a small matrix product, with one cell of an operand and everything that it feeds."""

from collections.abc import Mapping
from itertools import product

from markupsafe import Markup

from app.content.directives.visuals import MOST_CELLS_PER_AXIS
from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import number_table, pointing_attributes, svg_picture, svg_tag, svg_text

CELL = 40.0
TOP = 34.0
SPACE = 30.0  # two rows and columns on both sides are no wider than a phone


def draw_product_cells(scene: PictureInput) -> Markup:
    """Draw the product of `left` and `right`, or of the two operands in the program; `pick` is a cell of *of*."""
    names, left, right = _operands(scene)
    if left[1] != right[0] or max(*left, *right) > MOST_CELLS_PER_AXIS:
        raise ValueError("cells draws small products whose inner sizes match")
    on_right = scene.of is not None and scene.of.removeprefix("d") == names[1]
    row, column = _pick(scene.given.get("pick", [0, 0]), right if on_right else left)
    picked = (1 if on_right else 0, row, column)
    partners, fed = _met_cells(picked, left, right)
    marked = {(1 - picked[0], *cell) for cell in partners} | {(2, *cell) for cell in fed}
    sizes = (left, right, (left[0], right[1]))
    paths = {
        (index, *cell): _path((index, *cell), names, left, right)
        for index, size in enumerate(sizes)
        for cell in product(range(size[0]), range(size[1]))
    }
    parts: list[Markup] = []
    x = 8.0
    tallest = max(size[0] for size in sizes)
    for index, (name, size) in enumerate(zip(names, sizes, strict=True)):
        top = TOP + CELL * (tallest - size[0]) / 2
        parts += _matrix(x, top, name, size, index, picked, marked, paths)
        parts.append(svg_text(x + CELL * size[1] / 2, 16, name, class_="figure-number"))
        x += CELL * size[1]
        if index < 2:
            parts.append(
                svg_text(x + SPACE / 2, TOP + CELL * tallest / 2 + 6, "@" if index == 0 else "=", class_="figure-code")
            )
            x += SPACE
    sentence = _sentence(names, picked, partners, fed)
    height = TOP + CELL * tallest + 40
    parts.append(svg_text((x + 8) / 2, height - 10, sentence, class_="figure-note"))
    own, other = (names[1], names[0]) if on_right else (names[0], names[1])
    behind = number_table(
        "The cells as a table",
        f"What {_cell(own, row, column)} feeds",
        ("feeds", "multiplied by", "share of the gradient"),
        [
            (_cell(names[2], *to), _cell(other, *by), f"{_cell(other, *by)} · d{_cell(names[2], *to)}")
            for to, by in zip(fed, partners, strict=True)
        ],
    )
    return svg_picture(max(x + 8, 300), height, f"{names[0]} @ {names[1]} = {names[2]}. {sentence}", parts) + behind


Cells = list[tuple[int, int]]


def _met_cells(picked: tuple[int, int, int], left: tuple[int, int], right: tuple[int, int]) -> tuple[Cells, Cells]:
    """The cells of the other factor that *picked* meets, and those of the product in which it lands, side by side.

    A[i, j] meets B[j, :] and lands in D[i, :]; B[j, k] meets A[:, j] and lands in D[:, k].
    """
    index, row, column = picked
    if index == 1:
        return [(line, row) for line in range(left[0])], [(line, column) for line in range(left[0])]
    return [(column, line) for line in range(right[1])], [(row, line) for line in range(right[1])]


def _path(
    place: tuple[int, int, int], names: tuple[str, str, str], left: tuple[int, int], right: tuple[int, int]
) -> dict[str, str]:
    """Attributes that light up with one cell: of a factor its way to the gradient, of the product its terms."""
    index, row, column = place
    if index < 2:
        partners, fed = _met_cells(place, left, right)
        lit = [(1 - index, *cell) for cell in partners] + [(2, *cell) for cell in fed]
        return pointing_attributes(_key(place), map(_key, lit), _sentence(names, place, partners, fed))
    terms = [((0, row, line), (1, line, column)) for line in range(left[1])]
    sum_text = " + ".join(f"{_cell(names[0], *a[1:])}·{_cell(names[1], *b[1:])}" for a, b in terms)
    return pointing_attributes(
        _key(place), (_key(item) for term in terms for item in term), f"{_cell(names[2], row, column)} = {sum_text}"
    )


def _key(place: tuple[int, int, int]) -> str:
    return "-".join(map(str, place))


def _operands(scene: PictureInput) -> tuple[tuple[str, str, str], tuple[int, int], tuple[int, int]]:
    given = scene.given
    if "left" in given and "right" in given:
        named = given.get("names")
        first, second, product = (list(named) if isinstance(named, list | tuple) else []) + ["A", "B", "D"][
            len(named) if isinstance(named, list | tuple) else 0 :
        ]
        return (str(first), str(second), str(product)), _plane(given["left"]), _plane(given["right"])
    if scene.forward is None:
        raise KeyError("cells wants left and right, or a program")
    expression = scene.forward.source.partition("=")[2]
    first, _, rest = expression.partition("@")
    second = rest.split()[0]
    return (
        (first.strip(), second, scene.forward.output),
        _plane(scene.shapes[first.strip()]),
        _plane(scene.shapes[second]),
    )


def _plane(value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple):
        raise TypeError("a matrix has rows and columns")
    rows, columns = value
    return int(rows), int(columns)


def _pick(value: object, size: tuple[int, int]) -> tuple[int, int]:
    row, column = _plane(value)
    if not (0 <= row < size[0] and 0 <= column < size[1]):
        raise ValueError("the picked cell lies outside of the matrix")
    return row, column


def _matrix(
    left: float,
    top: float,
    name: str,
    size: tuple[int, int],
    index: int,
    picked: tuple[int, int, int],
    marked: set[tuple[int, int, int]],
    paths: Mapping[tuple[int, int, int], dict[str, str]],
) -> list[Markup]:
    parts = []
    for row in range(size[0]):
        for column in range(size[1]):
            place = (index, row, column)
            class_ = "cell-picked" if place == picked else "cell-given" if place in marked else "cell"
            x, y = left + CELL * column, top + CELL * row
            parts.append(svg_tag("rect", x=x, y=y, width=CELL, height=CELL, class_=class_, **paths[place]))
            parts.append(svg_text(x + CELL / 2, y + CELL / 2 + 5, _cell(name, row, column), class_="figure-label"))
    return parts


def _cell(name: str, row: int, column: int) -> str:
    return f"{name.lower()}{row + 1}{column + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _sentence(
    names: tuple[str, str, str],
    picked: tuple[int, int, int],
    partners: list[tuple[int, int]],
    fed: list[tuple[int, int]],
) -> str:
    own, other = names[picked[0]], names[1 - picked[0]]
    shares = " + ".join(f"{_cell(other, *by)}·d{_cell(names[2], *to)}" for by, to in zip(partners, fed, strict=True))
    return f"d{_cell(own, *picked[1:])} = {shares}"
