"""`{choice}`: a task list; one `[x]` means radio buttons, several mean checkboxes."""

from app.content.directives.answer_lists import take_options
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.directives.vary import parse_with_draws
from app.content.text.fences import Directive
from app.kinds.choice.block import ChoiceQuestion
from app.kinds.choice.keep import KEEP


@parse_with_draws
def read_choice(directive: Directive, reading: ParseContext) -> ChoiceQuestion:
    options = reading.options(directive)
    inside, choices = take_options(reading.inside(directive), reading)
    title = reading.title(directive)
    if len(choices) < 2:
        fix = "Write at least one '- [x] right' and one '- [ ] wrong'."
        count = "one option only" if choices else "no option"
        reading.faults.add(directive.place, "too-few-options", f"{title} has {count}.", fix)
    elif not any(option.right for option in choices):
        reading.faults.add(directive.place, "no-right-option", f"{title} has no right option.", "Mark one with '[x]'.")
    return ChoiceQuestion(
        **reading.asked(directive, options, inside),
        options=choices,
    )


READERS = (
    DirectiveReader(
        name="choice",
        block=ChoiceQuestion,
        options=("vary",),
        read=read_choice,
        row=True,
        care=ChoiceQuestion.unexplained,
    ),
    KEEP,
)
