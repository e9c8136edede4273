"""`{choice}`: a task list; one `[x]` means radio buttons, several mean checkboxes."""

from collections.abc import Iterator

from app.content.blocks import SourceLocation
from app.content.directives.answer_lists import take_options
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.directives.vary import parse_with_draws
from app.content.text.fences import Directive
from app.kinds.choice.block import ChoiceQuestion

OPTIONS = ("vary", "right", "was")


@parse_with_draws
def read_choice(directive: Directive, reading: ParseContext) -> ChoiceQuestion:
    options = reading.options(directive)
    inside = reading.inside(directive)
    tokens, choices = take_options(inside.tokens, inside.line, reading.file, reading.prose, reading.faults)
    title = reading.title(directive)
    if len(choices) < 2:
        fix = "Write at least one '- [x] right' and one '- [ ] wrong'."
        count = "one option only" if choices else "no option"
        reading.faults.add(directive.place, "too-few-options", f"{title} has {count}.", fix)
    elif not any(option.right for option in choices):
        reading.faults.add(directive.place, "no-right-option", f"{title} has no right option.", "Mark one with '[x]'.")
    return ChoiceQuestion(
        **reading.asked(directive, options, DirectiveBody(tokens, inside.line, inside.children)),
        options=choices,
    )


def unexplained_options(quiz: ChoiceQuestion) -> Iterator[tuple[SourceLocation, str, str]]:
    """Slips of care: nothing is wrong, or nothing is said to a wrong option."""
    if all(option.right for option in quiz.options):
        yield quiz.place, "all-right", f"All options of {quiz.name!r} are right."
    for option in quiz.options:
        if not option.right and not option.feedback:
            message = "Nothing is said to those who choose this wrong option. Write '  > Why not.' below it."
            yield option.place, "no-feedback", message


READER = DirectiveReader(
    name="choice", block=ChoiceQuestion, options=OPTIONS, read=read_choice, row=True, care=unexplained_options
)
