"""`{note}`, `{aside}`, `{plan}` and `{card}`: prose set apart; what follows the braces is its title."""

from collections.abc import Mapping

from app.content.blocks import Callout, CalloutKind
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive

CARD: CalloutKind = "card"
CALLOUT_KINDS: Mapping[str, CalloutKind] = {"note": "note", "aside": "aside", "plan": "plan", CARD: CARD}


def parse(directive: Directive, reading: ParseContext) -> Callout:
    if directive.name == CARD and not directive.argument:
        message = "This card has no title, and only its title is seen while it is closed."
        reading.faults.add(directive.place, "no-title", message, "Write what it explains, such as ':::{card} `x.T`'.")
    return Callout(
        place=directive.place,
        kind=CALLOUT_KINDS[directive.name],
        title=directive.argument,
        html=reading.rendered(directive),
    )


READERS = tuple(DirectiveReader(name=name, block=Callout, options=(), read=parse) for name in CALLOUT_KINDS)
