"""Pictures to step through: all frames lie side by side, one in view, with links from each to the ones beside it.

The links are places of the page and need no script; one only keeps the page from jumping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.web.pictures.svg import svg_tag


@dataclass(frozen=True, slots=True)
class Frame:
    """One step: a drawing in its box, what it is called, and what happens in it."""

    drawing: Markup
    title: str
    said: Markup


def render_frames(name: str, steps: Sequence[Frame], label: str, *, slides: str = "") -> Markup:
    """The *steps* of the picture *name*, in order.

    Args:
        slides: What is turned from step to step, if it is a knob: a script puts a slider above, which the steps follow.
    """
    items = [_item(name, at, frame, len(steps)) for at, frame in enumerate(steps, start=1)]
    return svg_tag("ol", *items, class_="frames", role="list", tabindex=0, aria_label=label, data_slides=slides or None)


def code_markup(source: str) -> Markup:
    return svg_tag("code", source)


def format_sentence(text: str, *parts: str | Markup) -> Markup:
    """A sentence with *parts* in the places of `{}`."""
    return Markup(text).format(*parts)


def _item(name: str, at: int, frame: Frame, count: int) -> Markup:
    back = _link(name, at - 1, "← Before", "prev") if at > 1 else Markup()
    onward = _link(name, at + 1, "Next →", "next") if at < count else _link(name, 1, "↺ Again", "next")
    place = svg_tag("span", f"{frame.title} · {at} of {count}", class_="place")
    steps = svg_tag("p", back, place, onward, class_="steps")
    return svg_tag("li", steps, frame.drawing, svg_tag("p", frame.said), id=f"{name}-{at}")


def _link(name: str, at: int, words: str, rel: str) -> Markup:
    return svg_tag("a", words, href=f"#{name}-{at}", data_step=rel)
