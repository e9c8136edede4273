"""`{keep}`: which tensors of the forward pass does a backward pass read? A choice whose options are derived."""

from collections.abc import Collection

from markupsafe import Markup

from app.content.blocks import Distractor, Forward, Option
from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.program.dependence import values_read
from app.content.program.programs import is_python, outputs_of
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive
from app.content.text.options import Options
from app.content.text.sentences import render_sentence
from app.kinds.choice.block import ChoiceQuestion


def read_keep(directive: Directive, reading: ParseContext) -> ChoiceQuestion:
    options = reading.options(directive)
    inside, tempting = take_tempting(reading.inside(directive), reading)
    box = reading.box(options, "of") if options.need("of", "linear-backward") else None
    sound = box is not None and is_python(box.solution.source)
    forward = reading.forwards.get(box.forward) if box and sound else None
    needed = values_read(box.solution.source) if box and sound else frozenset()
    offered = [name for name in outputs_of(forward) if name not in forward.outputs] if forward else []
    if forward and len({name in needed for name in offered}) != 2:
        count = f"all {len(offered)} are read, or none" if offered else "there is none"
        message = f"Of the tensors on the way of {forward.name!r}, without its output, {count}."
        reading.faults.add(directive.place, "no-choice", message, "Ask about a program in which some can be forgotten.")
    _check_tempting(tempting, offered, needed, forward, reading)
    feedback_by_value = {distractor.value: distractor.html for distractor in tempting}
    return ChoiceQuestion(
        **reading.asked(directive, options, inside),
        options=tuple(_option(name, name in needed, feedback_by_value.get(name), directive) for name in offered),
        instead=_parse_instead(options, offered, needed),
    )


def _parse_instead(options: Options, offered: list[str], needed: Collection[str]) -> dict[int, int]:
    """The pairs of `:instead: u=w`: other lines that are right read `w` in the place of `u`."""
    numbers: dict[int, int] = {}
    for pair, place in options.words("instead"):
        usual, _, other = pair.partition("=")
        if {usual, other} <= {*offered} and usual in needed and other not in needed:
            numbers[offered.index(usual)] = offered.index(other)
        elif offered:
            message = f"{pair!r} is no pair of a tensor that the solution reads and one that it does not."
            options.faults.add(
                place, "no-exchange", message, "Write 'u=w' where other right lines read w instead of u."
            )
    return numbers


def _check_tempting(
    tempting: tuple[Distractor, ...],
    offered: list[str],
    needed: frozenset[str],
    forward: Forward | None,
    reading: ParseContext,
) -> None:
    for distractor in tempting if forward else ():
        if distractor.value not in offered:
            message = f"{distractor.value!r} is no tensor on the way of this program."
            reading.faults.add(distractor.place, "unknown-tensor", message, did_you_mean(distractor.value, offered))
        elif distractor.value in needed:
            reading.faults.add(
                distractor.place, "right-tempting", f"{distractor.value!r} is read, so it counts as right."
            )


def _option(name: str, right: bool, feedback: Markup | None, directive: Directive) -> Option:
    wrong = render_sentence("No line of this backward pass reads it.") if feedback is None else feedback
    html = Markup("<p>{}</p>").format(render_sentence(f"`{name}`"))
    return Option(place=directive.place, html=html, right=right, feedback=None if right else wrong)


KEEP = DirectiveReader(
    name="keep",
    block=ChoiceQuestion,
    options=("of", "instead"),
    read=read_keep,
    turn=2,
    care=ChoiceQuestion.unexplained,
)
