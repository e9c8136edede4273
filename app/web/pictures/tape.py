"""`tape`: a small program, forward line by line and back share by share, with all numbers in place.

Whatever is drawn follows from the program and the numbers that it starts from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from app.grading.diagnosis.evidence import Array
from app.grading.reading.walk import Share, Walk, trace_program
from app.web.pictures.graph import LETTER, ROW_HEIGHT, TOP, arc_path, arc_space, graph_rows
from app.web.pictures.scene import PictureInput
from app.web.pictures.step_frames import Frame, code_markup, format_sentence, render_frames
from app.web.pictures.svg import boxed_svg, number_table, plain_number, svg_drawing, svg_tag, svg_text

HEAD_HEIGHT = 22.0
NARROWEST_COLUMN = 62.0  # the word above it
MOST_FRAMES = 40


@dataclass(frozen=True, slots=True)
class TapeRow:
    """One line of the picture: an input, or a statement. *reads* are the rows that it is made from."""

    name: str
    source: str
    reads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WalkState:
    """State of the walk: values and sums by name; the current row and arc."""

    values: Mapping[str, Array]
    totals: Mapping[str, Array] = field(default_factory=dict)
    row: int = -1
    arc: tuple[int, int] | None = None


def draw_tape(scene: PictureInput) -> Markup:
    """Draw the walk of `:forward:` from the numbers of `:at:`."""
    if scene.forward is None:
        raise KeyError("tape wants a forward program")
    walk = trace_program(scene.forward, scene.at)
    rows = [TapeRow(tensor_input.name, tensor_input.name) for tensor_input in scene.forward.inputs]
    for line in graph_rows(scene.forward):
        names = [row.name for row in rows]
        rows.append(TapeRow(line.name, line.source, tuple(names.index(name) for name in line.reads)))
    steps = [*_forward(walk, rows), *_backward(walk, rows, scene.forward.output)]
    if len(steps) > MOST_FRAMES:
        raise ValueError(f"{len(steps)} steps are more than anybody follows")
    label = f"The walk through {len(rows) - len(scene.forward.inputs)} lines and back, in {len(steps)} steps"
    behind = number_table(
        "The way back as a table",
        "Who hands how much to whom",
        ("line", "came back", "hands to", "share", "sum so far"),
        [
            (share.output, _number(share.upstream), share.tensor, _number(share.value), _number(share.total))
            for share in walk.shares
        ],
    )
    return render_frames(scene.name, steps, label) + behind


def _forward(walk: Walk, rows: Sequence[TapeRow]) -> list[Frame]:
    frames = []
    inputs = next(at for at, row in enumerate(rows) if row.reads)
    for at in range(inputs, len(rows)):
        known = {row.name: walk.values[row.name] for row in rows[: at + 1]}
        sentence = format_sentence("{} is {}.", code_markup(rows[at].source), _number(known[rows[at].name]))
        frames.append(Frame(_tape_svg(rows, WalkState(known, row=at), _column(walk)), "Forward", sentence))
    return frames


def _backward(walk: Walk, rows: Sequence[TapeRow], output: str) -> list[Frame]:
    places = {row.name: at for at, row in enumerate(rows)}
    totals: dict[str, Array] = {output: walk.gradients[output]}
    start = format_sentence(
        "The way back begins at the end: {} comes back to {}.", _number(totals[output]), code_markup(output)
    )
    frames = [
        Frame(_tape_svg(rows, WalkState(walk.values, dict(totals), places[output]), _column(walk)), "Backward", start)
    ]
    for at, share in enumerate(walk.shares, start=1):
        first = share.tensor not in totals
        payers = [later.line for later in walk.shares[at:] if later.tensor == share.tensor]
        totals[share.tensor] = share.total
        now = WalkState(walk.values, dict(totals), places[share.output], (places[share.tensor], places[share.output]))
        frames.append(
            Frame(
                _tape_svg(rows, now, _column(walk)),
                "Backward",
                _sentence(share, rows[places[share.output]].source, first, payers),
            )
        )
    return frames


def _sentence(share: Share, source: str, first: bool, payers: Sequence[int]) -> Markup:
    """Sentence about the share of the line *source*; *payers* are the lines from which the tensor gets more."""
    came, value = _number(share.upstream), _number(share.value)
    begun = format_sentence("{} came back to {}, in {}. ", came, code_markup(share.output), code_markup(source))
    if share.local is None:
        handed = format_sentence("{} is handed {}.", code_markup(share.tensor), value)
    else:
        parts = (code_markup(share.tensor), plain_number(share.local), came, plain_number(share.local), value)
        handed = format_sentence("The local derivative for {} is {}, so it is handed {} · {} = {}.", *parts)
    added = (
        ""
        if first
        else format_sentence(
            " With the {} from before that makes {}.", _number(share.total - share.value), _number(share.total)
        )
    )
    still = (
        ""
        if share.finished
        else format_sentence(
            " {} is not finished: another {} still has to pay in.",
            code_markup(share.tensor),
            "place in this line" if share.line in payers else "line",
        )
    )
    return begun + handed + added + still


def _column(walk: Walk) -> float:
    """Width of a column: its longest number, and a gap."""
    numbers = [*walk.values.values(), *walk.gradients.values(), *(share.total for share in walk.shares)]
    return max(NARROWEST_COLUMN, LETTER * max(len(_number(number)) for number in numbers) + 10)


def _tape_svg(rows: Sequence[TapeRow], now: WalkState, column: float) -> Markup:
    arcs = [(read, at) for at, row in enumerate(rows) for read in row.reads]
    longest, reach, x = arc_space(arcs)
    value_at = x + 30 + LETTER * max(len(row.source) for row in rows) + column
    width = value_at + column + 10
    parts = [
        svg_text(value_at, TOP - 4, "value", class_="figure-label", anchor="end"),
        svg_text(width - 8, TOP - 4, "gradient", class_="figure-label", anchor="end"),
    ]
    lines = [
        _arc(x, ends, longest, reach, lit=ends == now.arc) for ends in sorted(arcs, key=lambda arc: arc == now.arc)
    ]
    for at, row in enumerate(rows):
        y = TOP + ROW_HEIGHT * at
        if at == now.row:
            lines.insert(0, svg_tag("rect", x=x - 14, y=y - 14, width=width - x + 14, height=28.0, rx=4, class_="lit"))
        lines.append(
            svg_tag("circle", cx=x, cy=y, r=6.0, class_="fork" if sum(start == at for start, _ in arcs) > 1 else "node")
        )
        lines.append(svg_text(x + 18, y + 5, row.source, class_="figure-code", anchor="start"))
        if row.name in now.values:
            lines.append(svg_text(value_at, y + 5, _number(now.values[row.name]), class_="figure-code", anchor="end"))
        if row.name in now.totals:
            class_ = "figure-code figure-back"
            lines.append(svg_text(width - 8, y + 5, _number(now.totals[row.name]), class_=class_, anchor="end"))
    body = svg_tag("g", *lines, transform=f"translate(0 {HEAD_HEIGHT:g})")
    return boxed_svg(svg_drawing(width, HEAD_HEIGHT + TOP + ROW_HEIGHT * len(rows), [*parts, body]), width)


def _arc(x: float, ends: tuple[int, int], longest: int, reach: float, *, lit: bool) -> Markup:
    return arc_path(x, ends, "edge edge-lit" if lit else "edge", longest, reach)


def _number(value: Array) -> str:
    """A number; the rows of a small table between bars."""
    if value.ndim < 2:
        return " ".join(plain_number(float(item)) for item in value.flat)
    return " | ".join(_number(row) for row in value)
