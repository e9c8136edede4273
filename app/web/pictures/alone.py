"""The pictures of a lesson as files of their own: an SVG with its colours in it, and its numbers beside it.

On paper colours: what surrounds such a file is not known.
"""

import re
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup

from app.content.blocks import Lesson, Visual
from app.course.export import Drawing
from app.grading.reading.shape_inference import infer_shapes
from app.web.pictures import draw_picture

SVG = re.compile(r"<svg xmlns.*?</svg>", re.DOTALL)
LABEL = "aria-label"
LARGEST_FILE = 2_000_000
PAPER, SHEET, INK, SOFT, EDGE, HAIRLINE = "#faf8f3", "#ffffff", "#211f1b", "#5a564d", "#8a8477", "#dfd9cc"
ACCENT, LATER, RIGHT, UP, DOWN = "#14556b", "#7a5a0c", "#1f6a3b", "#b3541e", "#14556b"
LEVELS = (16, 34, 54, 76, 100)

STYLE = f"""
text {{ fill: {INK}; font: 14px "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif; }}
.figure-number {{ font-weight: 600; }}
.figure-label, .figure-note, .figure-tick {{ fill: {SOFT}; }}
.figure-code {{ font: 14px "IBM Plex Mono", ui-monospace, Menlo, Consolas, monospace; }}
.figure-tick {{ font: 12px "IBM Plex Mono", ui-monospace, Menlo, Consolas, monospace; }}
.ground {{ stroke: {EDGE}; stroke-width: 1.5; fill: none; }}
.tip {{ fill: {EDGE}; }}
.push {{ fill: {UP}; }}
.pull {{ fill: {DOWN}; }}
.cell {{ fill: {SHEET}; stroke: {EDGE}; }}
.cell-given {{ fill: #e3eff3; stroke: {ACCENT}; }}
.cell-copy {{ fill: #f3f0e8; stroke: {EDGE}; stroke-dasharray: 3 3; }}
.cell-picked {{ fill: #f8f0dc; stroke: {LATER}; stroke-width: 2; }}
.edge {{ fill: none; stroke: {EDGE}; stroke-width: 1.5; }}
.edge-fork {{ stroke: {LATER}; stroke-width: 2; }}
.edge-lit, .curve-own {{ fill: none; stroke: {ACCENT}; stroke-width: 2.5; }}
.curve-grid {{ fill: none; stroke: {HAIRLINE}; }}
.series {{ fill: none; stroke-width: 2; }}
.series.series-1, .series.series-2 {{ stroke: {ACCENT}; }}
.series.series-3, .series.series-4 {{ stroke: {UP}; }}
.series.series-2, .series.series-4 {{ stroke-dasharray: 5 3; }}
.dot {{ fill: {ACCENT}; }}
.dot.series-3, .dot.series-4 {{ fill: {UP}; }}
.lit {{ fill: #e3eff3; }}
.hit {{ fill: none; }}
.figure-back {{ fill: {ACCENT}; font-weight: 600; }}
.node {{ fill: {SHEET}; stroke: {EDGE}; stroke-width: 1.5; }}
.fork {{ fill: #f8f0dc; stroke: {LATER}; stroke-width: 2; }}
.sample-vowel {{ fill: {ACCENT}; }}
.sample-known {{ fill: {RIGHT}; }}
[data-heat] {{ fill: {SHEET}; stroke: {HAIRLINE}; stroke-width: 0.5; }}
.heat-mark {{ stroke: {INK}; stroke-width: 2; }}
"""


def files_of(lesson: Lesson, folder: Path) -> dict[str, bytes]:
    """The image files that *lesson* shows, read from the *folder* of its course, by what an export calls them."""
    files = {}
    for link in lesson.pictures:
        path = folder / link.target
        with suppress(OSError):
            if path.resolve().is_relative_to(folder.resolve()) and path.stat().st_size <= LARGEST_FILE:
                files[link.target.replace("/", "-")] = path.read_bytes()
    return files


def drawings_of(lesson: Lesson) -> dict[str, Drawing]:
    """The pictures of *lesson* by name. Shapes are those that the source of a program tells; nothing is run."""
    drawings = {}
    for block in lesson.all_of(Visual):
        forward = lesson.forwards.get(block.forward or "")
        drawing = alone(draw_picture(block, infer_shapes(forward) if forward else {}, forward))
        if drawing is not None:
            drawings[block.name] = drawing
    return drawings


def alone(markup: Markup) -> Drawing | None:
    """A picture of a page as a file, at its last step where it has several; None where there is none."""
    pictures = SVG.findall(markup)
    if not pictures:
        return None
    figure = ElementTree.fromstring(f"<figure>{markup}</figure>")  # our own markup, well formed by construction
    summary = next(
        element.get(LABEL, "")
        for element in figure.iter()
        if element.get(LABEL) and element.tag.endswith(("svg", "ol"))
    )
    rows = [tuple("".join(cell.itertext()) for cell in row) for row in figure.iter("tr")]
    opening, rest = pictures[-1].split(">", 1)
    ground = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    svg = f"{opening}><style>{STYLE}{_heat()}</style>{ground}{rest}"
    return Drawing(svg=svg, summary=summary, rows=rows)


def _heat() -> str:
    """A rule for each level of a heat map, mixed here: not every program that shows a file can mix colours."""
    rules = []
    for sign, colour in (("", UP), ("-", DOWN)):
        for level, percent in enumerate(LEVELS, start=1):
            rules.append(f'[data-heat="{sign}{level}"] {{ fill: {_mixed(colour, percent)}; }}\n')
    return "".join(rules)


def _mixed(colour: str, percent: int) -> str:
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(SHEET[1:]), strict=True)
    return "#" + "".join(f"{round((number * percent + other * (100 - percent)) / 100):02x}" for number, other in pairs)
