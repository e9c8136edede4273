"""`{note}`, `{aside}` and `{plan}`: prose set apart; what follows the braces is its title."""

from collections.abc import Mapping
from typing import Literal

from app.content.blocks import Callout
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive

CALLOUT_KINDS: Mapping[str, Literal["note", "aside", "plan"]] = {"note": "note", "aside": "aside", "plan": "plan"}


def parse(directive: Directive, reading: ParseContext) -> Callout:
    return Callout(
        place=directive.place,
        kind=CALLOUT_KINDS[directive.name],
        title=directive.argument,
        html=reading.rendered(directive),
    )


READERS = tuple(DirectiveReader(name=name, block=Callout, options=(), read=parse) for name in CALLOUT_KINDS)
