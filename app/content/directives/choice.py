"""`{choice}`: a task list; one `[x]` means radio buttons, several mean checkboxes."""

from app.content.blocks import Choice
from app.content.fences import Directive
from app.content.items import take_options
from app.content.reading import Inside, Reading
from app.content.vary import varying

OPTIONS = ("vary", "right", "was")


@varying
def read(directive: Directive, reading: Reading) -> Choice:
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
    return Choice(
        **reading.asked(directive, options, Inside(tokens, inside.line, inside.children)),
        options=choices,
    )
