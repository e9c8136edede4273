"""Learning curve: the share that goes wrong at the first meeting, at the second and so on, with its table."""

from collections.abc import Sequence

from markupsafe import Markup

from app.web.pictures.svg import number_table, svg_picture, svg_tag, svg_text

WIDTH, HEIGHT = 300.0, 120.0
LEFT, RIGHT, TOP, BOTTOM = 38.0, 10.0, 8.0, 24.0


def draw_rates(title: str, wrong: Sequence[int], people: Sequence[int]) -> Markup:
    """Draw *wrong* of *people*, point by point; the scale is from 0 to 100 %, so that curves can be compared."""
    shares = [part / whole for part, whole in zip(wrong, people, strict=True)]
    across = (WIDTH - LEFT - RIGHT) / max(1, len(shares) - 1)
    high = HEIGHT - TOP - BOTTOM
    places = [(LEFT + number * across, TOP + high * (1 - share)) for number, share in enumerate(shares)]
    parts = [svg_tag("path", d=f"M{LEFT:g} {TOP:g}V{TOP + high:g}H{WIDTH - RIGHT:g}", class_="curve-grid")]
    parts += [
        svg_text(LEFT - 6, TOP + high * (1 - share) + 5, f"{share:.0%}", class_="figure-label", anchor="end")
        for share in (0, 0.5, 1)
    ]
    parts += [svg_text(x, HEIGHT - 6, str(number + 1), class_="figure-label") for number, (x, _) in enumerate(places)]
    parts.append(svg_tag("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), class_="curve-own"))
    parts += [svg_tag("circle", cx=x, cy=y, r=2.5, class_="curve-point") for x, y in places]
    summary = f"{title}: wrong at first for {shares[0]:.0%}, at meeting {len(shares)} for {shares[-1]:.0%}."
    rows = [
        (str(number + 1), str(whole), f"{part / whole:.0%}")
        for number, (part, whole) in enumerate(zip(wrong, people, strict=True))
    ]
    behind = number_table("The numbers", f"{title}, meeting by meeting", ("meeting", "learners", "wrong"), rows)
    return svg_picture(WIDTH, HEIGHT, summary, parts) + behind
