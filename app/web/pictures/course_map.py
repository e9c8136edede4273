"""The course as a map: beside each lesson the lines that lead to it from the lessons that it builds on.

A lesson that is still needed further down keeps a lane to itself until then. Rows are as high as their text, so the
lines of each are drawn for themselves and stretched; they meet at the borders of the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Lesson
from app.web.pictures.svg import svg_tag

LANE, HEIGHT, MIDDLE = 15, 40, 20


@dataclass(frozen=True, slots=True)
class MapLines:
    """Lines beside a lesson: *lines*, those that pass *above* it; its own place, *x*, in the *width* of all."""

    lines: Markup
    above: Markup
    x: float
    width: float


def course_map(lessons: Sequence[Lesson]) -> Mapping[str, MapLines]:
    """Place of each lesson on the map, by name. *lessons* are in course order, each after those it requires."""
    names = {lesson.name for lesson in lessons}
    needs = {lesson.name: tuple(name for name in lesson.requires if name in names) for lesson in lessons}
    last = {name: lesson.name for lesson in lessons for name in needs[lesson.name]}
    lanes: list[str | None] = []
    placed: list[tuple[str, list[str | None], int, list[str | None]]] = []
    for lesson in lessons:
        before = list(lanes)
        ended = [at for at, name in enumerate(lanes) if name is not None and last[name] == lesson.name]
        for at in ended:
            lanes[at] = None
        lane = next((at for at, name in enumerate(lanes) if name is None), len(lanes))
        lanes[lane : lane + 1] = [lesson.name if lesson.name in last else None]
        placed.append((lesson.name, before, lane, list(lanes)))
    width = LANE * max((len(after) for *_, after in placed), default=1)
    return {
        name: MapLines(
            _map_svg(width, _row(before, needs[name], lane, after)), _map_svg(width, _above(before)), _x(lane), width
        )
        for name, before, lane, after in placed
    }


def _x(lane: int) -> float:
    return LANE * (lane + 0.5)


def _above(before: Sequence[str | None]) -> list[str]:
    return [f"M{_x(at):g} 0V{HEIGHT}" for at, name in enumerate(before) if name is not None]


def _row(before: Sequence[str | None], needs: Sequence[str], lane: int, after: Sequence[str | None]) -> list[str]:
    """Lines from the lanes *before* into the lesson, those that pass it, and the one that leads on *after* it."""
    paths = [f"M{_x(lane):g} {MIDDLE}V{HEIGHT}"] if after[lane] is not None else []
    for at, name in enumerate(before):
        if name in needs:
            paths.append(f"M{_x(at):g} 0C{_x(at):g} 13 {_x(lane):g} 7 {_x(lane):g} {MIDDLE}")
        if name is not None and at < len(after) and after[at] == name:
            paths.append(f"M{_x(at):g} 0V{HEIGHT}")
    return paths


def _map_svg(width: float, paths: Sequence[str]) -> Markup:
    lines = [svg_tag("path", d=path, class_="edge", vector_effect="non-scaling-stroke") for path in paths]
    size = {
        "viewBox": f"0 0 {width:g} {HEIGHT}",
        "width": f"{width:g}",
        "preserveAspectRatio": "none",
        "aria-hidden": "true",
    }
    return svg_tag("svg", *lines, class_="course-way", **size)
