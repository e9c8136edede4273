"""Quizzes as markdown: the question, what was answered, and the right answer folded away below it."""

import re
from collections.abc import Iterable, Sequence

from app.content.arithmetic import UnreadableError, number_of
from app.content.blocks import (
    CellsQuestion,
    ChoiceQuestion,
    MatmulQuestion,
    NumberQuestion,
    NumbersQuestion,
    Option,
    OrderQuestion,
    Quiz,
    ShapeQuestion,
)
from app.content.export.notebook import Work
from app.content.export.source import ListItem, without_lists
from app.content.mathml import words_of

TASK = re.compile(r"^ {0,3}[-*+]\s+\[[ xX]\] ")
STEP_NUMBER = re.compile(r"^ {0,3}\d+[.)]\s")
TEMPTING = re.compile(r"^ {0,3}[-*+]\s+`[^`]+`:")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def question_markdown(quiz: Quiz, text: str, hints: Sequence[str], work: Work, right: str = "") -> str:
    """*quiz* in markdown; *text* is its own source without the *hints*, *right* what is said to a right answer."""
    if isinstance(quiz, ChoiceQuestion):
        prompt, items = without_lists(text, TASK)
        if not items:
            prompt, items = without_lists(text, TEMPTING)[0], [_derived_item(option) for option in quiz.options]
        places = [int(name) for name in work.answers.get(quiz.name, ()) if name.isdecimal() and len(name) < 4]
        entered = ", ".join(f"({LETTERS[place % 26]})" for place in places)
        prompt = "\n\n".join(
            [prompt, "\n".join(f"- ({letter}) {_option(item)}" for letter, item in _with_letters(items))]
        )
        answer = _chosen_letters(quiz, items)
    elif isinstance(quiz, OrderQuestion):
        items = without_lists(text, STEP_NUMBER, "ordered_list")[1] if quiz.steps else []
        prompt = without_lists(text, STEP_NUMBER, "ordered_list")[0] if quiz.steps else text
        entered, prompt = "", "\n\n".join([prompt, _in_order(quiz, items, quiz.shown, "-")])
        answer = _in_order(quiz, items, range(len(quiz.lines)), "1.")
    else:
        prompt, items = without_lists(text, TEMPTING)
        entered = (" @ " if isinstance(quiz, MatmulQuestion) else ", ").join(work.answers.get(quiz.name, ()))
        entered = _inline_code(entered)
        prompt += _point(quiz) if isinstance(quiz, CellsQuestion) else ""
        prompt += f"\n\n{', '.join(part.name for part in quiz.parts)}" if isinstance(quiz, NumbersQuestion) else ""
        prompt += f"\n\n`{quiz.ask}`" if isinstance(quiz, ShapeQuestion) and quiz.ask else ""
        answer = "\n".join(["", *(f"- {item.text}" for item in items)]) if items else ""
        answer = f"{_right(quiz, work)}\n{answer}".strip()
    own = f"Your answer: {entered}" if entered else ""
    answer = "\n\n".join(part for part in (answer, right) if part)
    answer_text = disclosure_markup("Answer", answer) if work.solved is None or quiz.name in work.solved else ""
    return "\n\n".join(part for part in (prompt, *folded_hints(hints), own, answer_text) if part)


def _in_order(quiz: OrderQuestion, items: Sequence[ListItem], order: Iterable[int], bullet: str) -> str:
    """Its lines, or its steps as *items* of a list."""
    if not items:
        return _python(quiz.lines[line] for line in order)
    return "\n".join(f"{bullet} {_hanging(items[line].text, len(bullet) + 1)}" for line in order)


def _point(quiz: CellsQuestion) -> str:
    """The numbers that the program of *quiz* starts from."""
    return "".join(f"\n\n`{name} = {value}`" for name, value in quiz.at.items())


def _derived_item(option: Option) -> ListItem:
    """Item of a derived option: the name of a tensor, and the feedback for choosing it wrongly."""
    return ListItem(f"[ ] `{words_of(option.html)}`", words_of(option.feedback) if option.feedback else "")


def _python(lines: Iterable[str]) -> str:
    return "\n".join(["```python", *lines, "```"])


def disclosure_markup(title: str, text: str) -> str:
    """A disclosure; the empty lines let markdown be markdown inside of it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def folded_hints(hints: Sequence[str]) -> list[str]:
    count = len(hints)
    return [
        disclosure_markup(f"Hint {number} of {count}" if count > 1 else "Hint", text)
        for number, text in enumerate(hints, start=1)
    ]


def _inline_code(answer: str) -> str:
    """Format a typed answer as code on one line."""
    plain = " ".join(answer.replace("`", "'").encode("utf-8", "replace").decode().split())
    return f"`{plain}`" if plain else ""


def _with_letters(items: Sequence[ListItem]) -> list[tuple[str, ListItem]]:
    return [(LETTERS[number % 26], item) for number, item in enumerate(items)]


def _option(item: ListItem) -> str:
    """An option's text, indented so that all of it stays in its item."""
    return _hanging(item.text[4:], 2)


def _hanging(text: str, indent: int) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(f"{' ' * indent}{line}" if line.strip() else "" for line in others)])


def _chosen_letters(quiz: ChoiceQuestion, items: Sequence[ListItem]) -> str:
    lettered = list(zip(_with_letters(items), quiz.options, strict=False))
    right = [letter for (letter, _), option in lettered if option.right]
    lines = [f"({letter}) {item.quote}" for (letter, item), _ in lettered if item.quote]
    return "\n\n".join([f"**{' '.join(f'({letter})' for letter in right)}**", *lines])


def _right(quiz: Quiz, work: Work) -> str:
    if isinstance(quiz, NumberQuestion):
        return f"**{_number(quiz)}**"
    if isinstance(quiz, NumbersQuestion):
        return ", ".join(f"{part.name}: **{_number(part)}**" for part in quiz.parts)
    answer = work.right.get(quiz.name)
    if answer:
        return f"**{answer}**"
    of = getattr(quiz, "of", None)
    return f"Run the program and look: `{of}` has the shape of its tensor." if of else ""


def _number(quiz: NumberQuestion) -> str:
    try:
        value = f"{number_of(quiz.answer, quiz.given):.6g}"
    except UnreadableError:
        return f"`{quiz.answer}`"
    return value if value == quiz.answer.strip() else f"`{quiz.answer}` = {value}"
