"""`{visual}`: a picture that the page draws from a forward program or from given numbers."""

from collections.abc import Mapping

import yaml

from app.content.blocks import Forward, Visual
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.input_values import Point, point_of
from app.content.directives.parse_context import ParseContext
from app.content.directives.visuals import PICTURE_KINDS, check_given
from app.content.program.programs import tensors_of
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive
from app.content.text.options import Options, node_of, plain_of


def read_visual(directive: Directive, reading: ParseContext) -> Visual:
    options = reading.options(directive)
    name = reading.name(directive)
    kind = options.one_of("kind", tuple(PICTURE_KINDS), "") if options.need("kind", "graph") else ""
    forward = reading.forward(options, needed=False)
    of = reading.gradient(options, "of", forward, tensors=True) if "of" in options else None
    given = _parse_given(options)
    if kind and given is not None:
        check_given(PICTURE_KINDS[kind], given, options)
    statement = _at(kind, options, forward, of)
    inside = reading.inside(directive, ())
    if not inside.tokens:
        reading.faults.add(
            directive.place, "empty", f"{reading.title(directive)} has no caption.", "Say what it shows."
        )
    _check_highlight(given or {}, forward, options)
    return Visual(
        place=directive.place,
        name=name,
        kind=kind,
        forward=forward.name if forward else None,
        of=of,
        given=given or {},
        at=statement,
        caption=reading.prose.render(inside.tokens, inside.line),
    )


def _check_highlight(given: Mapping[str, object], forward: Forward | None, options: Options) -> None:
    """Check that the highlighted name is a tensor of the program."""
    names = given.get("highlight")
    for name in names if forward and isinstance(names, list) else ():
        if forward and name not in tensors_of(forward):
            message = f"{name!r} is no tensor of {forward.name!r}, so it cannot be highlighted."
            options.wrong("given", "unknown-name", message, did_you_mean(str(name), tensors_of(forward)))


def _at(kind: str, options: Options, forward: Forward | None, of: str | None) -> Point:
    """The numbers of `:at:`, for the kinds that walk; what a slider varies is one of the inputs, and needs none."""
    if kind and not PICTURE_KINDS[kind].walked:
        if "at" in options:
            options.wrong("at", "unknown-option", f"A picture {kind!r} takes no ':at:'.")
        return {}
    if not kind or forward is None:
        return {}
    single = [tensor_input.name for tensor_input in forward.inputs if not tensor_input.sizes]
    if kind == "slider" and of is not None and of not in single:
        message = f"{of!r} is no input of {forward.name!r} that is a single number."
        options.wrong("of", "unknown-name", message, did_you_mean(of, single))
    return point_of(options, forward, of if kind == "slider" else None)


def _parse_given(options: Options) -> dict[str, object] | None:
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


READERS = (
    DirectiveReader(name="visual", block=Visual, options=("kind", "forward", "of", "given", "at"), read=read_visual),
)
