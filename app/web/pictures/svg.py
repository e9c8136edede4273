"""The few elements that pictures are made of. Text is escaped here and nowhere else."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

NARROW = 326.0  # up to this width a picture shrinks with the window: its letters of 14 px are still 12 px on a phone


def svg_tag(name: str, *children: str, **attributes: object) -> Markup:
    """One element. `class_` is the attribute class; an underscore inside a name becomes a hyphen."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(escape(child) for child in children)}</{name}>")


def _short(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def svg_text(x: float, y: float, content: str, *, class_: str = "", anchor: str = "middle") -> Markup:
    return svg_tag("text", content, x=float(x), y=float(y), class_=class_ or None, text_anchor=anchor)


def pointing_attributes(entry: str, path: Iterable[str], sentence: str) -> dict[str, str]:
    """Attributes of an element that can be pointed at: its own name, the names it leads to, and a sentence."""
    return {"data_entry": entry, "data_path": " ".join(path), "data_said": sentence}


def svg_picture(width: float, height: float, summary: str, parts: Iterable[Markup], *, shrinks: bool = False) -> Markup:
    """An SVG in its box; *summary* is its text alternative."""
    return boxed_svg(svg_drawing(width, height, parts, summary), width, shrinks=shrinks)


def boxed_svg(drawn: Markup, width: float, *, shrinks: bool = False) -> Markup:
    """Wide ones scroll sideways in a group that the keyboard reaches, unless they stay legible when one *shrinks*.

    No region: a page has several, and landmarks of one name cannot be told apart.
    """
    if width <= NARROW or shrinks:
        return svg_tag("div", drawn, class_="picture")
    return svg_tag(
        "div", drawn, class_="picture", data_wide="", role="group", tabindex=0, aria_label="Picture, scrolls sideways"
    )


def svg_drawing(width: float, height: float, parts: Iterable[Markup], summary: str | None = None) -> Markup:
    """Draw a stand-alone SVG; without a *summary* it is decorative, and the text beside it says the same."""
    return svg_tag(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        role="img" if summary else None,
        aria_label=summary,
        aria_hidden=None if summary else "true",
        viewBox=f"0 0 {width:g} {height:g}",
        width=float(width),
        height=float(height),
    )


def number_table(summary: str, caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """The numbers of a picture in a disclosure named *summary*; the first cell of a row is its header."""
    body = [
        svg_tag("tr", svg_tag("th", row[0], scope="row"), *(svg_tag("td", cell) for cell in row[1:])) for row in rows
    ]
    grid = svg_tag(
        "table",
        svg_tag("caption", caption),
        svg_tag("thead", svg_tag("tr", *(svg_tag("th", cell, scope="col") for cell in head))),
        svg_tag("tbody", *body),
    )
    scroll = svg_tag("div", grid, class_="scroll", role="region", tabindex=0, aria_label=caption)
    return svg_tag("details", svg_tag("summary", summary), scroll, class_="numbers")


def format_decimals(value: float, places: int = 3) -> str:
    """A number with a true minus sign; a zero never carries one."""
    written = f"{abs(value):.{places}f}"
    return f"−{written}" if value < 0 and float(written) else written


def arrow_svg(x: float, start: float, end: float, class_: str) -> Markup:
    """A vertical arrow whose tip is at *end*; short ones keep their head."""
    down = end >= start
    head = min(9.0, max(4.0, abs(end - start)))
    neck = end - head if down else end + head
    outline = f"M{x - 5:g} {start:.2f}H{x + 5:g}V{neck:.2f}H{x + 11:g}L{x:g} {end:.2f}L{x - 11:g} {neck:.2f}H{x - 5:g}Z"
    return svg_tag("path", d=outline, class_=class_)


def plain_number(value: float) -> str:
    """At most four digits, or all before the point of a number below a million; with a true minus sign."""
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e6 else f"{value + 0.0:.4g}"
    return text.replace("-", "−")


def draw_bar(*parts: tuple[float, str]) -> Markup:
    """A bar with parts one after the other, each a share and its class; the text beside it says the same."""
    drawn, start = [], 0.0
    for share, kind in parts:
        drawn.append(svg_tag("rect", x=100 * start, width=100 * share, height=1.0, class_=kind or None))
        start += share
    return svg_tag("svg", *drawn, class_="bar", viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true")
