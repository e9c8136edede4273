"""`{note}`, `{aside}` and `{plan}`: prose set apart; what follows the braces is its title."""

from typing import Literal

from app.content.blocks import Callout
from app.content.fences import Directive
from app.content.reading import Reading

OPTIONS = ()


def read(directive: Directive, reading: Reading) -> Callout:
    kinds: dict[str, Literal["note", "aside", "plan"]] = {"note": "note", "aside": "aside", "plan": "plan"}
    return Callout(
        place=directive.place,
        kind=kinds[directive.name],
        title=directive.argument,
        html=reading.rendered(directive),
    )
