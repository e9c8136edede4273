"""Mistake of one attempt, in a form in which the attempts of many can be counted together.

Nothing of a text is read but its lines: a line is one of a learner's, cut before its comment.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import Exercise, Quiz
from app.content.directives.vary import drawn_words
from app.content.text.sentences import render_sentence
from app.engine.json_columns import decoded_answer, decoded_draw, decoded_verdict
from app.grading.judge.verdict import Verdict
from app.insight.mistakes import code_line
from app.kinds.registry import quiz_kind, select_draw
from app.store.board import AttemptText
from app.web.verdict_words import OUTCOMES, first_fault

OLD = "An answer from before an update of the server."
NOT_READY = "Something is left to write."


@dataclass(frozen=True, slots=True)
class AttemptMistake:
    """Mistake of an attempt: *key* is the same for all who made it.

    Args:
        said: What the learner was told, in a sentence.
        line: The line that it was said of, as it was written; empty for an answer to a question.
        name: The gradient that it is about, such as `dW`; empty where it is about none.
    """

    key: str
    said: Markup
    line: str = ""
    name: str = ""


def fault_of(exercise: Exercise, code: str | None, attempt: AttemptText) -> AttemptMistake:
    """Find the mistake in an attempt at *exercise* with the diagnosis *code*."""
    if isinstance(exercise, Quiz) and (given := decoded_answer(attempt.text)) is not None:
        drawn_quiz = select_draw(exercise, decoded_draw(attempt.verdict))
        # The same option is the same slip whatever was drawn; the same number is not.
        about = "" if quiz_kind(drawn_quiz).by_option else drawn_words(drawn_quiz.numbers)
        return AttemptMistake("".join(",".join(given).split()) + about, answer_words(drawn_quiz, given))
    verdict = decoded_verdict(attempt.verdict)
    if verdict is None:
        return AttemptMistake(code or "old", render_sentence(code or OLD))
    at = next(
        (name_verdict for name_verdict in verdict.names if code and code in (name_verdict.key, name_verdict.code)), None
    ) or first_fault(verdict)
    if at is None or (code is None and verdict.outcome != "graded"):
        return AttemptMistake(
            verdict.outcome, render_sentence(OUTCOMES[verdict.outcome]), code_line(attempt.text, _place(verdict))
        )
    if code is None:
        return AttemptMistake(f"{at.name}:{at.verdict}", render_sentence(at.message or NOT_READY), name=at.name)
    return AttemptMistake(code, render_sentence(at.message or code), code_line(attempt.text, at.line), at.name)


def answer_words(exercise: Quiz, given: tuple[str, ...]) -> Markup:
    """An answer to a question, as people would say it, with the numbers that were drawn for it."""
    words = quiz_kind(exercise).words(exercise, given)
    return Markup("{} ({})").format(words, drawn_words(exercise.numbers)) if exercise.numbers else words


def most_often(lines: Iterable[str]) -> str:
    """The line that was written most often, spaces aside, in the spelling that was used most often."""
    counted = Counter(line for line in lines if line)
    if not counted:
        return ""
    alike: Counter[str] = Counter()
    for line, count in counted.items():
        alike["".join(line.split())] += count
    wanted = alike.most_common(1)[0][0]
    return next(line for line, _ in counted.most_common() if "".join(line.split()) == wanted)


def _place(verdict: Verdict) -> int | None:
    return verdict.line or next((name_verdict.line for name_verdict in verdict.names if name_verdict.line), None)
