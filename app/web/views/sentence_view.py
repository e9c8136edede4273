"""Sentences for all who make one mistake: which mistakes can have one, what shows them, and where they are said."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.content.blocks import Bug, CodeBox, Exercise, FunctionBox, Lesson, Quiz
from app.content.text.exercise_titles import exercise_title
from app.content.text.mathml import words_of
from app.engine.json_columns import decoded_verdict
from app.grading.judge.function_verdict import names_of
from app.grading.judge.hunt_verdict import LINE, with_line
from app.grading.judge.verdict import is_nameless
from app.insight.mistakes import answer_of
from app.kinds.registry import answer_key, quiz_kind, select_draw
from app.store.tables import NAME_LENGTH, WrittenSentence
from app.store.written_sentences import MistakenText
from app.web.verdict_words import FAULTS
from app.web.views.attempt_mistakes import answer_words
from app.web.views.sentence_blocks import lesson_block, plain_code


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence with its exercise, which the course may have no more; *current* while it is about this edition."""

    row: WrittenSentence
    lesson: Lesson | None
    exercise: Exercise | None
    current: bool

    @property
    def title(self) -> str:
        return exercise_title(self.exercise) if self.exercise else self.row.exercise

    @property
    def subject(self) -> str:
        """Subject of it: a gradient, a line, a case, an answer."""
        subject = subject_of(self.exercise, self.row.mistake) if self.exercise else ""
        return subject or self.row.mistake.partition(":")[0]

    @property
    def block(self) -> str:
        """The block of a lesson that says it; "" where none can."""
        row, exercise = self.row, self.exercise
        return lesson_block(exercise, row.mistake, row.said, row.example) if exercise and self.current else ""

    @property
    def drawn(self) -> bool:
        """True if it is about one of several draws of numbers."""
        return isinstance(self.exercise, Quiz) and bool(self.exercise.draws)

    @property
    def address(self) -> str:
        scope = f"?class={self.row.class_id}" if self.row.class_id else ""
        return f"/authors/sentences/{self.row.id}{scope}"


def subject_of(exercise: Exercise, mistake: str) -> str:
    """Subject of the key of a mistake: a gradient, a line, a case, an answer; "" for one that has no sentence."""
    if isinstance(exercise, Quiz):
        return _answer(exercise, mistake)
    if not isinstance(exercise, CodeBox) or not is_nameless(mistake) or len(mistake) > NAME_LENGTH:
        return ""
    name, _, rest = mistake.partition(":")
    if isinstance(exercise, Bug) and name == LINE:
        number = suspected_line(exercise, mistake)
        return f"line {number}" if number else ""
    cases = {case.replace(" ", "-"): case for case in names_of(exercise)} if isinstance(exercise, FunctionBox) else {}
    return cases.get(name, name if name in exercise.require and rest else "")


def _answer(quiz: Quiz, mistake: str) -> str:
    try:
        draw, given = answer_of(mistake)
        usual = answer_key(quiz, draw, given) == mistake and 0 <= draw < max(1, len(quiz.draws))
    except (ValueError, TypeError, AttributeError):
        return ""
    if not usual or quiz_kind(quiz).by_option or len(mistake) > NAME_LENGTH:
        return ""
    return words_of(answer_words(select_draw(quiz, draw), given))


def suspected_line(bug: Bug, mistake: str) -> int:
    """The right line of *bug* that was called the wrong one; 0 for another mistake."""
    number = mistake.removeprefix(f"{LINE}:innocent:")
    lines = bug.starter.source.count("\n")
    in_sight = number != mistake and number.isdecimal() and len(number) < 6 and 0 < int(number) <= lines
    return int(number) if in_sight and not bug.line <= int(number) <= bug.end else 0


def known_example(exercise: Exercise, mistake: str) -> str:
    """Answer or suspected line that makes a mistake, where its key tells; "" where a text has to be written."""
    if isinstance(exercise, Bug) and (number := suspected_line(exercise, mistake)):
        return with_line(exercise.starter.source, number)
    return mistake if isinstance(exercise, Quiz) else ""


def example_of(lesson: Lesson, box: CodeBox, texts: Iterable[MistakenText]) -> str:
    """The best example of a mistake: of *texts* that make it the one in which least else is wrong, as plain code."""
    written = []
    for each in texts:
        verdict = decoded_verdict(each.verdict)
        wrong = sum(row.verdict in FAULTS for row in verdict.names) if verdict else 0
        if plain := plain_code(lesson, box, each.text):
            written.append((wrong, len(plain), plain))
    return min(written)[2] if written else ""
