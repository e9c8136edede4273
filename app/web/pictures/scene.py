"""Input of a picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.content.blocks import Forward
from app.grading.forward.facts import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureInput:
    """The options of one picture, with the program and the shapes that they speak of.

    Args:
        given: The numbers of `:given:`.
        name: The id of the picture, for places within it.
        at: The numbers of `:at:`, by input.
        of: The tensor or gradient that the picture is about.
        shapes: By name of every tensor of *forward*.
    """

    given: Mapping[str, object]
    name: str = ""
    at: Mapping[str, object] = field(default_factory=dict)
    of: str | None
    forward: Forward | None
    shapes: Mapping[str, Shape]
