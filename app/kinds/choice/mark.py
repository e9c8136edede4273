"""Choices: the numbers of the chosen options, counted from 0."""

from collections.abc import Sequence

from markupsafe import Markup

from app.content.blocks import Forward, Option
from app.grading.quiz.feedback import (
    THAT_HOLDS,
    Feedback,
    Shapes,
    count_text,
    right_feedback,
    unread_feedback,
    wrong_feedback,
)
from app.kinds.choice.block import ChoiceQuestion


def mark_choice(quiz: ChoiceQuestion, values: Sequence[str], _shapes: Shapes, _forward: Forward | None) -> Feedback:
    chosen = {int(value) for value in values if value.isdecimal() and len(value) < 4}
    chosen = quiz.usual_choice(chosen & set(range(len(quiz.options))))
    if not chosen:
        return unread_feedback(f"Choose {'every option that holds' if quiz.multiple else 'one of the options'}.")
    wanted = {index for index, option in enumerate(quiz.options) if option.right}
    false = [quiz.options[index] for index in sorted(chosen - wanted)]
    declared = [option for option in false if option.feedback]
    if not quiz.multiple and len(chosen) > 1:
        return unread_feedback("Exactly one option holds: choose one.")
    if chosen == wanted:
        said = [option for option in quiz.options if option.right and option.feedback]
        return right_feedback(_of_each(said, len(chosen) > 1) if said else THAT_HOLDS)
    if declared:
        return wrong_feedback(_of_each(declared, len(chosen) > 1))
    if false:
        return wrong_feedback(f"{'Not all of these hold.' if len(chosen) > 1 else 'That does not hold.'}")
    missing = count_text(len(wanted - chosen), "option that also holds is", "options that also hold are")
    return wrong_feedback(f"What you chose holds, but {missing} missing.")


def _of_each(options: Sequence[Option], named: bool) -> Markup:
    """Feedback of *options*; each is *named* above it if several could be meant."""
    about = '<div class="about">{}</div>\n'
    parts = (
        Markup(about).format(option.html) + (option.feedback or "") if named else option.feedback or ""
        for option in options
    )
    return Markup("\n").join(parts)
