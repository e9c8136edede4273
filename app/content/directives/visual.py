"""`{visual}`: a picture that the page draws from a forward program or from given numbers."""

import yaml

from app.content.blocks import Visual
from app.content.fences import Directive
from app.content.options import Options, node_of, plain_of
from app.content.reading import Reading
from app.content.visuals import KINDS, check_given

OPTIONS = ("kind", "forward", "of", "given")


def read(directive: Directive, reading: Reading) -> Visual:
    options = reading.options(directive)
    name = reading.name(directive)
    kind = options.one_of("kind", tuple(KINDS), "") if options.need("kind", "graph") else ""
    forward = reading.forward(options, needed=False)
    of = reading.gradient(options, "of", forward, tensors=True) if "of" in options else None
    given = _given(options)
    if kind and given is not None:
        check_given(KINDS[kind], given, options)
    inside = reading.inside(directive, ())
    return Visual(
        place=directive.place,
        name=name,
        kind=kind,
        forward=forward.name if forward else None,
        of=of,
        given=given or {},
        caption=reading.prompt(directive, inside.tokens, inside.line),
    )


def _given(options: Options) -> dict[str, object] | None:
    """The mapping of `:given:`, or None after a fault was added."""
    value = options.entries.get("given")
    if value is None:
        return {}
    node = node_of(value, options.faults)
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        options.wrong("given", "wrong-type", "':given:' is a mapping, such as {z: [2, 0.5], target: 1}.")
        return None
    given = plain_of(node)
    return given if isinstance(given, dict) else None
