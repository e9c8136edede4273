"""`graph`: a forward program as a line of statements with an arc from every tensor to each statement that reads it.

Forks, tensors that several statements read, are marked: on the way back their shares have to be added. An input is
drawn where it is a fork; the others would only crowd the picture.
"""

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from markupsafe import Markup

from app.content.blocks import Forward
from app.content.program.written_text import written_at
from app.content.text.sizes import format_shape
from app.syntax import is_assignment, names_in_order, parse_code, right_side, source_text, targets_of
from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import number_table, pointing_attributes, svg_picture, svg_tag, svg_text

ROW_HEIGHT = 30.0
TOP = 22.0
NARROWEST, WIDEST = 26.0, 112.0
LETTER = 8.45  # width of one letter of the code face at 14 px
LABEL_LETTER = 5.8  # of the face of labels
LINE_HEIGHT = 19.0
MAX_LINE_CHARS = 48
"""Letters of a statement in one line: a longer one goes on below, so that a lesson has room for the picture."""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One line of the program: the tensors it makes, the first of them as its *name*, and those it reads."""

    name: str
    source: str
    reads: tuple[str, ...]
    made: tuple[str, ...] = ()


def graph_rows(forward: Forward) -> list[GraphRow]:
    """The statements of *forward*, in order.

    Raises:
        SyntaxError: The source is not Python; the parser of lessons refuses such a program before.
    """
    known = {tensor_input.name for tensor_input in forward.inputs}
    rows = []
    assignments = [
        (node, value) for node in parse_code(forward.source).body if is_assignment(node) and (value := right_side(node))
    ]
    texts = written_at(forward.source, [value for _, value in assignments])
    for (node, value), text in zip(assignments, texts, strict=True):
        reads = dict.fromkeys(name for name in names_in_order(value) if name in known)
        for target in targets_of(node):
            written = names_in_order(target)
            known.update(written)
            source = f"{source_text(target)} = {' '.join(text.split())}"
            rows.append(GraphRow(written[0], source, tuple(reads), tuple(written)))
    return rows


def draw_graph(scene: PictureInput) -> Markup:
    """Draw the program that `:forward:` names; `highlight` adds marks to the forks, a board has one line `lit`."""
    forward, shapes = scene.forward, scene.shapes
    if forward is None:
        raise KeyError("graph wants a forward program")
    statements = graph_rows(forward)
    lines = [*_given_forks(forward, statements), *statements]
    places = {line.name: index for index, line in enumerate(lines)}
    readers = {line.name: [other.name for other in lines if line.name in other.reads] for line in lines}
    forks = {name for name, those in readers.items() if len(those) > 1}
    highlight = scene.given.get("highlight")
    marked = forks | {str(item) for item in highlight} if isinstance(highlight, list | tuple) else forks
    arcs = [(places[name], index) for index, line in enumerate(lines) for name in line.reads if name in places]
    rows = [
        textwrap.wrap(line.source, MAX_LINE_CHARS, subsequent_indent="    ", break_long_words=False) for line in lines
    ]
    *ys, bottom = accumulate((ROW_HEIGHT + LINE_HEIGHT * (len(row) - 1) for row in rows), initial=TOP)
    longest, reach, x = arc_space(arcs)
    # Shapes stand before the statements, which may be longer than a phone is wide.
    texts = {name: format_shape(shape) for name, shape in shapes.items() if name in places}
    code_at = x + 18 + (LABEL_LETTER * max(map(len, texts.values())) + 14 if texts else 0)
    parts = [
        arc_path(
            x,
            (start, end),
            "edge edge-fork" if lines[start].name in forks else "edge",
            longest,
            reach,
            f"{start}-{end}",
            at=ys.__getitem__,
        )
        for start, end in arcs
    ]
    hits = []
    widest = max(len(row) for of_line in rows for row in of_line)
    for index, line in enumerate(lines):
        y, height = ys[index], ROW_HEIGHT + LINE_HEIGHT * (len(rows[index]) - 1)
        if line.name == scene.given.get("lit"):
            parts.insert(
                0, svg_tag("rect", x=0.0, y=y - ROW_HEIGHT / 2, width="100%", height=height, rx=4.0, class_="line-lit")
            )
        lit = [str(end) for start, end in arcs if start == index]
        lit += [f"{index}-{end}" for end in lit]
        attributes = pointing_attributes(str(index), lit, _fork_text(line.name, readers[line.name]))
        hits.append(
            svg_tag("rect", x=0.0, y=y - ROW_HEIGHT / 2, width="100%", height=height, class_="hit", **attributes)
        )
        node = "fork" if line.name in marked else "node"
        parts.append(svg_tag("circle", cx=x, cy=y, r=6.0, class_=node, data_entry=str(index)))
        for down, row in enumerate(rows[index]):
            indent = LETTER * (len(row) - len(row.lstrip()))
            at = code_at + indent
            parts.append(svg_text(at, y + 5 + LINE_HEIGHT * down, row.lstrip(), class_="figure-code", anchor="start"))
        if line.name in texts:
            parts.append(svg_text(x + 18, y + 5, texts[line.name], class_="figure-label", anchor="start"))
    width = code_at + 16 + LETTER * widest
    summary = f"{len(statements)} statements, from {statements[0].name} to {statements[-1].name}." + (
        f" Read by more than one statement: {', '.join(sorted(forks, key=places.__getitem__))}." if forks else ""
    )
    behind = number_table(
        "The graph as a table",
        f"The {len(statements)} statements and who reads them",
        ("tensor", "made from", "read by"),
        [(line.name, _origin(line, statements), ", ".join(readers[line.name]) or "nothing") for line in lines],
    )
    return svg_picture(width, bottom, summary, [*hits, *parts]) + behind


def _fork_text(name: str, readers: list[str]) -> str:
    if not readers:
        return f"d{name} is given: no line of the program reads {name}."
    shares = "one share" if len(readers) == 1 else f"{len(readers)} shares, which are added"
    return f"{name} is read by {', '.join(readers)}: d{name} has {shares}."


def _given_forks(forward: Forward, statements: list[GraphRow]) -> list[GraphRow]:
    """Inputs that several statements read, as lines of their own."""
    counts = {
        tensor_input.name: sum(tensor_input.name in line.reads for line in statements)
        for tensor_input in forward.inputs
    }
    return [GraphRow(name, name, ()) for name, count in counts.items() if count > 1]


def _origin(line: GraphRow, statements: list[GraphRow]) -> str:
    return ", ".join(line.reads) or ("nothing" if line in statements else "given")


def _row(index: int) -> float:
    return TOP + ROW_HEIGHT * index


def arc_space(arcs: Iterable[tuple[int, int]]) -> tuple[int, float, float]:
    """The most lines that one of *arcs* spans, how far it bulges, and where the column beside them begins."""
    longest = max((end - start for start, end in arcs), default=1)
    reach = min(WIDEST, NARROWEST + 9.0 * longest)
    return longest, reach, reach + 14


def arc_path(
    x: float,
    ends: tuple[int, int],
    class_: str,
    longest: int,
    reach: float,
    entry: str | None = None,
    *,
    at: Callable[[int], float] = _row,
) -> Markup:
    """From one line to another, at the left of the column *x*; those further apart bulge more, up to *reach*.

    Args:
        at: How far down a line stands.
    """
    start, end = ends
    from_y, to_y = at(start), at(end)
    if end == start + 1:
        return svg_tag("path", d=f"M{x:g} {from_y:g}V{to_y:g}", class_=class_, data_entry=entry)
    bulge = x - (NARROWEST + (reach - NARROWEST) * (end - start) / longest) * 4 / 3
    curve = f"M{x:g} {from_y:g}C{bulge:.1f} {from_y:g} {bulge:.1f} {to_y:g} {x:g} {to_y:g}"
    return svg_tag("path", d=curve, class_=class_, data_entry=entry)
