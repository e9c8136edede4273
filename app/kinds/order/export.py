"""An order as markdown: its lines as the page shows them, and in an order that is right."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, hanging_lines
from app.content.export.source import ListItem, without_lists
from app.kinds.order.block import OrderQuestion

STEP_NUMBER = re.compile(r"^ {0,3}\d+[.)]\s")


def export_order(quiz: OrderQuestion, text: str, _: Work) -> QuestionText:
    prompt, items = without_lists(text, STEP_NUMBER, "ordered_list") if quiz.steps else (text, [])
    shown = _in_order(quiz, items, quiz.shown, "-")
    return QuestionText(f"{prompt}\n\n{shown}", "", _in_order(quiz, items, range(len(quiz.lines)), "1."))


def _line(quiz: OrderQuestion, line: int) -> str:
    """A line of code, and behind it the name of its step."""
    comment = f"  # {quiz.stretches[line]}" if quiz.stretches and quiz.stretches[line] else ""
    return f"{quiz.lines[line]}{comment}"


def _in_order(quiz: OrderQuestion, items: Sequence[ListItem], order: Iterable[int], bullet: str) -> str:
    """Its lines, or its steps as *items* of a list."""
    if not items:
        return "\n".join(["```python", *map(partial(_line, quiz), order), "```"])
    return "\n".join(f"{bullet} {hanging_lines(items[line].text, len(bullet) + 1)}" for line in order)
