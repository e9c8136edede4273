"""The gradients of a box as a graph: columns in the order of the backward pass, with a line wherever something flows.

A column holds what can be computed next, one name to a lane. A gradient that is read again further on keeps a lane to
itself until then. Columns wrap like words, so what joins a column to the one before is drawn beside it, as its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from app.content.blocks import Forward
from app.web.pictures.graph import graph_rows
from app.web.pictures.svg import svg_tag

WIDE, LANE = 26, 28
"""The size of a joint, in pixels: its width, and the height of a lane."""
PASSING = "-"


@dataclass(frozen=True, slots=True)
class FlowColumn:
    """*lanes* holds a name, `PASSING` where a gradient only goes by, or nothing; *joint* leads to them."""

    lanes: tuple[str, ...]
    joint: Markup


Sources = Mapping[str, tuple[str, ...]]
"""By gradient: the nearest gradients that it is computed from."""
Flow = tuple[tuple[FlowColumn, ...], Sources]


def gradient_flow(forward: Forward, names: Sequence[str], given: Collection[str] = ()) -> Flow:
    """Columns of the gradients *names*, in backward order, and the sources of each.

    Args:
        given: Gradients that are in scope from the start, besides that of the output.
    """
    sources = _sources(forward, names, {*given, *forward.upstreams})
    depths: dict[str, int] = {}
    for name in names:
        depths[name] = 1 + max((depths.get(text, 0) for text in sources[name]), default=0)
    roots = [
        fromkey for fromkey in dict.fromkeys(text for name in names for text in sources[name]) if fromkey not in names
    ]
    levels = [roots] + [
        [text for text in names if depths[text] == level] for level in range(1, max(depths.values()) + 1)
    ]
    return tuple(_columns(levels, sources)), sources


def _sources(forward: Forward, names: Collection[str], given: Collection[str]) -> Sources:
    readers: dict[str, list[str]] = {}
    for line in graph_rows(forward):
        for read in line.reads:
            readers.setdefault(read, []).extend(line.made)
    known = {*names, *given}

    @cache
    def nearest(tensor: str) -> tuple[str, ...]:
        names = (
            each
            for name in readers.get(tensor, ())
            for each in ([f"d{name}"] if f"d{name}" in known else nearest(name))
        )
        return tuple(dict.fromkeys(names))

    return {name: nearest(name[1:]) for name in names}


def _columns(levels: Sequence[Sequence[str]], sources: Sources) -> list[FlowColumn]:
    """Lanes from left to right: names before those that pass, each in the lane of its first source, if that is free."""
    read_at = {text: at for at, level in enumerate(levels) for name in level for text in sources.get(name, ())}
    flow_columns: list[FlowColumn] = []
    before: dict[str, int] = {}
    for at, level in enumerate(levels):
        passing = [name for name in before if name not in level and read_at.get(name, -1) > at]
        lanes: dict[str, int] = {}
        for text in [*sorted(level, key=lambda name: name not in read_at), *passing]:
            wanted = next((before[each] for each in (*sources.get(text, ()), text) if each in before), 0)
            taken = set(lanes.values())
            lanes[text] = wanted if wanted not in taken else next(lane for lane in range(99) if lane not in taken)
        ends = [(before[each], lanes[name], True) for name in level for each in sources.get(name, ()) if each in before]
        ends += [(before[name], lanes[name], False) for name in passing]
        names = {lane: name if name in level else PASSING for name, lane in lanes.items()}
        tall = max(names, default=0) + 1
        flow_columns.append(FlowColumn(tuple(names.get(lane, "") for lane in range(tall)), _joint(ends)))
        before = lanes
    return flow_columns


def _joint(ends: Sequence[tuple[int, int, bool]]) -> Markup:
    """Lines from lanes of one column to lanes of the next; with a head where a name is reached."""
    if not ends:
        return Markup()
    height = LANE * (1 + max(max(start, end) for start, end, _ in ends))
    parts = []
    for start, end, reached in dict.fromkeys(ends):
        y, to = (LANE * (lane + 0.5) for lane in (start, end))
        tip = WIDE - 2 if reached else WIDE
        parts.append(
            svg_tag("path", d=f"M0 {y:g}C{WIDE / 2:g} {y:g} {WIDE / 2:g} {to:g} {tip:g} {to:g}", class_="edge")
        )
        if reached:
            parts.append(svg_tag("path", d=f"M{tip - 5:g} {to - 4:g}l5 4l-5 4", class_="edge"))
    size = {"width": WIDE, "height": height, "viewBox": f"0 0 {WIDE} {height}", "aria-hidden": "true"}
    return svg_tag("svg", Markup().join(parts), class_="joint", **size)
