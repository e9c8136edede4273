"""`forces`: softmax minus one-hot as a tug of war.

Every logit is pushed down by its probability; the target is pulled up by what is left of 1.
"""

from collections.abc import Mapping, Sequence
from math import exp, isfinite

from markupsafe import Markup

from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import arrow_svg, format_decimals, number_table, svg_picture, svg_tag, svg_text

COLUMN = 74.0
REACH = 128.0  # length of a force of 1
MARGIN = 20.0


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities of *logits*; the largest is subtracted first, so nothing overflows."""
    largest = max(logits)
    powers = [exp(logit - largest) for logit in logits]
    return [power / sum(powers) for power in powers]


def draw_forces(scene: PictureInput) -> Markup:
    """Draw `:given: {z: [...], target: k}`."""
    logits, target = _parse_given(scene.given)
    labels = _labels(scene.given.get("labels"), len(logits))
    chances = softmax(logits)
    gradient = [chance - (index == target) for index, chance in enumerate(chances)]
    pull = 1 - chances[target]
    ground = MARGIN + 26 + REACH * pull
    depth = REACH * max((chance for index, chance in enumerate(chances) if index != target), default=0)
    width, height = COLUMN * len(logits) + 2 * MARGIN, ground + depth + 66
    parts = [svg_tag("line", x1=MARGIN, x2=width - MARGIN, y1=ground, y2=ground, class_="ground")]
    for index, (logit, force) in enumerate(zip(logits, gradient, strict=True)):
        x = MARGIN + COLUMN * (index + 0.5)
        up = index == target
        tip = ground - REACH * -force if up else ground + REACH * force
        parts.append(arrow_svg(x, ground, tip, "pull" if up else "push"))
        parts.append(svg_text(x, tip - 9 if up else tip + 19, format_decimals(abs(force)), class_="figure-number"))
        name_at = ground + 20 if up else ground - 12
        parts.append(svg_text(x, name_at, f"{labels[index]} = {_plain(logit)}", class_="figure-label"))
    parts.append(svg_text(width / 2, height - 14, _balance(gradient, target), class_="figure-note"))
    rows = [
        (
            f"{_row(labels, index)} (target)" if index == target else _row(labels, index),
            _plain(logit),
            format_decimals(chance),
            format_decimals(force),
            f"pulled up by {format_decimals(-force)}"
            if index == target
            else f"pushed down by {format_decimals(force)}",
        )
        for index, (logit, chance, force) in enumerate(zip(logits, chances, gradient, strict=True))
    ]
    rows.append(("sum", "", format_decimals(sum(chances)), format_decimals(sum(gradient)), ""))
    summary = "; ".join(f"logit {row[0]}, {row[1]}, is {row[4]}" for row in rows[:-1])
    behind = number_table(
        "The numbers",
        f"Softmax of {len(logits)} logits minus one-hot of class {target}",
        ("logit", "z", "p", "dz = p − y", "force"),
        rows,
    )
    return svg_picture(width, height, f"Forces on the logits: {summary}.", parts) + behind


def _parse_given(given: Mapping[str, object]) -> tuple[list[float], int]:
    listed, target = given["z"], given["target"]
    if not isinstance(listed, list | tuple) or not isinstance(target, int):
        raise TypeError("forces wants z: [...] and target: k")
    logits = [float(item) for item in listed]
    if not all(map(isfinite, logits)) or not 0 <= target < len(logits):
        raise ValueError("forces wants finite logits and a target among them")
    return logits, target


def _labels(given: object, size: int) -> list[str]:
    listed = given if isinstance(given, list | tuple) else []
    return [str(item) for item in listed] if len(listed) == size else ["z"] * size


def _row(labels: Sequence[str], index: int) -> str:
    return str(index) if labels[index] == "z" else labels[index]


def _balance(gradient: Sequence[float], target: int) -> str:
    pushes = [format_decimals(force) for index, force in enumerate(gradient) if index != target]
    if len(pushes) > 6:
        return f"{len(pushes)} pushes and one pull of {format_decimals(-gradient[target])} cancel"
    return f"{' + '.join(pushes)} down = {format_decimals(-gradient[target])} up"


def _plain(value: float) -> str:
    return f"{value:g}".replace("-", "−")
