"""A choice as markdown: its options under letters."""

import re
from collections.abc import Sequence

from app.content.blocks import Option
from app.content.export.notebook import Work
from app.content.export.questions import TEMPTING, QuestionText, hanging_lines
from app.content.export.source import ListItem, without_lists
from app.content.text.mathml import words_of
from app.kinds.choice.block import ChoiceQuestion

TASK = re.compile(r"^ {0,3}[-*+]\s+\[[ xX]\] ")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def export_choice(quiz: ChoiceQuestion, text: str, work: Work) -> QuestionText:
    prompt, items = without_lists(text, TASK)
    if not items:
        prompt, items = without_lists(text, TEMPTING)[0], [_derived_item(option) for option in quiz.options]
    places = [int(name) for name in work.answers.get(quiz.name, ()) if name.isdecimal() and len(name) < 4]
    entered = ", ".join(f"({LETTERS[place % 26]})" for place in places)
    options = "\n".join(f"- ({letter}) {hanging_lines(item.text[4:], 2)}" for letter, item in _with_letters(items))
    return QuestionText(f"{prompt}\n\n{options}", entered, _chosen_letters(quiz, items))


def _derived_item(option: Option) -> ListItem:
    """Item of a derived option: the name of a tensor, and the feedback for choosing it wrongly."""
    return ListItem(f"[ ] `{words_of(option.html)}`", words_of(option.feedback) if option.feedback else "")


def _with_letters(items: Sequence[ListItem]) -> list[tuple[str, ListItem]]:
    return [(LETTERS[number % 26], item) for number, item in enumerate(items)]


def _chosen_letters(quiz: ChoiceQuestion, items: Sequence[ListItem]) -> str:
    lettered = list(zip(_with_letters(items), quiz.options, strict=False))
    right = [letter for (letter, _), option in lettered if option.right]
    lines = [f"({letter}) {item.quote}" for (letter, item), _ in lettered if item.quote]
    return "\n\n".join([f"**{' '.join(f'({letter})' for letter in right)}**", *lines])
