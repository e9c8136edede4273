"""Questions as markdown: the parts that a kind gives, and the words that all kinds share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.content.blocks import Quiz
from app.content.export.notebook import Work
from app.content.export.source import without_lists

TEMPTING = re.compile(r"^ {0,3}[-*+]\s+`[^`]+`:")


@dataclass(frozen=True, slots=True)
class QuestionText:
    """A question with what it offers, what was *entered*, and the *answer* with what is said to wrong ones."""

    prompt: str
    entered: str
    answer: str


def typed_question(
    quiz: Quiz, text: str, work: Work, *, below: Sequence[str] = (), right: str = "", between: str = ", "
) -> QuestionText:
    """A question whose answer is typed.

    Args:
        text: Its own source.
        below: Paragraphs between the question and the answer.
        right: The right answer, where it carries it.
        between: Parts the values of an answer.
    """
    prompt, items = without_lists(text, TEMPTING)
    tempting = "\n".join(["", *(f"- {item.text}" for item in items)]) if items else ""
    return QuestionText(
        "\n\n".join([prompt, *below]),
        _inline_code(between.join(work.answers.get(quiz.name, ()))),
        f"{right or _derived_answer(quiz, work)}\n{tempting}".strip(),
    )


def question_markdown(quiz: Quiz, parts: QuestionText, hints: Sequence[str], work: Work, right: str = "") -> str:
    """The *parts* of *quiz* in one text with its *hints*; *right* is said to a right answer."""
    own = f"Your answer: {parts.entered}" if parts.entered else ""
    answer = "\n\n".join(part for part in (parts.answer, right) if part)
    answer_text = disclosure_markup("Answer", answer) if work.solved is None or quiz.name in work.solved else ""
    return "\n\n".join(part for part in (parts.prompt, *folded_hints(hints), own, answer_text) if part)


def disclosure_markup(title: str, text: str) -> str:
    """A disclosure; the empty lines let markdown be markdown inside of it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def folded_hints(hints: Sequence[str]) -> list[str]:
    count = len(hints)
    return [
        disclosure_markup(f"Hint {number} of {count}" if count > 1 else "Hint", text)
        for number, text in enumerate(hints, start=1)
    ]


def hanging_lines(text: str, indent: int) -> str:
    """*text* with all lines but the first indented, so that all of it stays in its item of a list."""
    first, *others = text.split("\n")
    return "\n".join([first, *(f"{' ' * indent}{line}" if line.strip() else "" for line in others)])


def _inline_code(answer: str) -> str:
    """Format a typed answer as code on one line."""
    plain = " ".join(answer.replace("`", "'").encode("utf-8", "replace").decode().split())
    return f"`{plain}`" if plain else ""


def _derived_answer(quiz: Quiz, work: Work) -> str:
    """The right answer that follows from the program of *quiz*."""
    if answer := work.right.get(quiz.name):
        return f"**{answer}**"
    of = getattr(quiz, "of", None)
    return f"Run the program and look: `{of}` has the shape of its tensor." if of else ""
