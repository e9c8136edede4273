"""`samples`: invented names at several moments of a training, side by side, with the same names in a table behind.

Vowels are tinted: how they begin to alternate with consonants is what a model learns first. A dot stands before a name
that is in the list the model learned from.
"""

from collections.abc import Container, Sequence

from markupsafe import Markup

from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import number_table, svg_picture, svg_tag, svg_text

COLUMN = 112.0  # three fit a phone
LINE_HEIGHT = 22.0
LEFT, TOP = 14.0, 24.0
MAX_NAME_CHARS = 12  # letters that fit into a column
MAX_NARROW_CHARS = 18  # the same of narrow letters
VOWELS = frozenset("aeiouy")
EMPTY = "(empty)"


def draw_samples(scene: PictureInput) -> Markup:
    """Draw `:given: {steps: [...], names: [[...]], known: [...]}`, one list of names for each number of steps."""
    steps, names, known = (scene.given.get(key, []) for key in ("steps", "names", "known"))
    if not isinstance(steps, list) or not isinstance(names, list) or not isinstance(known, list):
        raise TypeError("samples wants steps: [...] and names: [[...], ...]")
    columns = [(int(step), [str(name) for name in some]) for step, some in zip(steps, names, strict=True)]
    return sampled_names(columns, frozenset(map(str, known)))


def sampled_names(columns: Sequence[tuple[int, Sequence[str]]], known: Container[str]) -> Markup:
    """The picture of names after some numbers of steps; nothing where there are none.

    Args:
        known: The names that the model learned from.
    """
    rows = max((len(names) for _, names in columns), default=0)
    if not rows:
        return Markup()
    parts = []
    for index, (step, names) in enumerate(columns):
        x = LEFT + COLUMN * index
        parts.append(svg_text(x, TOP - 6, _after(step), class_="figure-number", anchor="start"))
        for row, name in enumerate(names):
            y = TOP + LINE_HEIGHT * (row + 1)
            if name in known:
                parts.append(svg_tag("circle", cx=x - 8, cy=y - 5, r=3.0, class_="sample-known"))
            parts.append(_spelling_svg(x, y, name))
        parts.append(
            svg_text(x, TOP + LINE_HEIGHT * (rows + 1) + 10, _count(names, known), class_="figure-note", anchor="start")
        )
    summary = f"Invented names {', '.join(_after(step) for step, _ in columns)}. " + "; ".join(
        f"{_after(step)}: {_count(names, known)}, {', '.join(names[:3])}" for step, names in columns
    )
    behind = number_table(
        "The names as a table",
        "Names that the model invented",
        ("", *(_after(step) for step, _ in columns)),
        [
            (str(row + 1), *(_name_text(names[row], known) if row < len(names) else "" for _, names in columns))
            for row in range(rows)
        ],
    )
    return svg_picture(LEFT + COLUMN * len(columns), TOP + LINE_HEIGHT * (rows + 1) + 22, f"{summary}.", parts) + behind


def _spelling_svg(x: float, y: float, name: str) -> Markup:
    """*name* in runs of vowels and of other letters."""
    shown = name if len(name) <= MAX_NARROW_CHARS else f"{name[: MAX_NARROW_CHARS - 1]}…"
    if not shown:
        return svg_text(x, y, EMPTY, class_="figure-label", anchor="start")
    runs: list[tuple[bool, str]] = []
    for letter in shown:
        vowel = letter in VOWELS
        if runs and runs[-1][0] == vowel:
            runs[-1] = (vowel, runs[-1][1] + letter)
        else:
            runs.append((vowel, letter))
    pieces = [svg_tag("tspan", letters, class_="sample-vowel" if vowel else None) for vowel, letters in runs]
    narrow = {"textLength": COLUMN - 12, "lengthAdjust": "spacingAndGlyphs"} if len(shown) > MAX_NAME_CHARS else {}
    return svg_tag("text", *pieces, x=x, y=y, class_="figure-code", **narrow)


def _name_text(name: str, known: Container[str]) -> str:
    return f"{name or EMPTY}{' (in the list)' if name in known else ''}"


def _after(step: int) -> str:
    if not step:
        return "before step 1"
    return f"after {step:,} step{'s' * (step != 1)}"


def _count(names: Sequence[str], known: Container[str]) -> str:
    return f"{sum(name in known for name in names)} of {len(names)} in the list"
