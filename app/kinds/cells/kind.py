"""Fill in the entries of a small table; or tick those that one entry feeds; or pick one."""

from collections.abc import Sequence

from markupsafe import Markup

from app.check.findings import Finding
from app.check.proof_setup import ProofSetup
from app.check.prove_walks import prove_walk
from app.content.blocks import Forward, Lesson
from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, typed_question
from app.content.text.sentences import code_span
from app.content.text.sizes import format_shape
from app.grading.quiz.feedback import Shapes, word_list
from app.kinds.cells.block import CellsQuestion
from app.kinds.cells.mark import answer_of, mark_cells, names_of, right_values
from app.kinds.cells.offer import offer_cells
from app.kinds.quiz_kind import Candidate, QuizKind, typed_words


def _answers(quiz: CellsQuestion, _: Shapes, forward: Forward | None) -> Sequence[Candidate]:
    entries = answer_of(quiz, forward)
    return [] if entries is None else [right_values(quiz, entries)]


def _right(quiz: CellsQuestion, _: Shapes, forward: Forward | None) -> str:
    entries = answer_of(quiz, forward)
    if entries is None:
        return ""
    if not quiz.feeds and quiz.pick is None:
        return f"`{entries.round(4).tolist()}`"
    names = zip(names_of(quiz, entries.shape), entries.ravel(), strict=True)
    return word_list([f"`{name}`" for name, right in names if right])


def _words(quiz: CellsQuestion, given: Sequence[str]) -> Markup:
    """Entries that were ticked or picked by their number; a table as it was filled in."""
    if not quiz.feeds and quiz.pick is None:
        return typed_words(quiz, given)
    ticked = [number for number in given if number.isdecimal()]
    what = f"{'entry' if len(ticked) == 1 else 'entries'} {word_list(ticked)}, from 0," if ticked else "no entry"
    return Markup("{} of {}").format(what, code_span(quiz.of))


def _unanswerable(quiz: CellsQuestion) -> str:
    return f"`{quiz.of}` has no entry `{format_shape(quiz.pick)}`." if isinstance(quiz.pick, tuple) else ""


async def _prove(lesson: Lesson, quiz: CellsQuestion, _: ProofSetup) -> list[Finding]:
    return prove_walk(quiz.place, lesson.forwards[quiz.forward], quiz.at) if quiz.at else []


def _export(quiz: CellsQuestion, text: str, work: Work) -> QuestionText:
    return typed_question(quiz, text, work, below=[f"`{name} = {value}`" for name, value in quiz.at.items()])


KINDS = (
    QuizKind(
        name="cells",
        block=CellsQuestion,
        mark=mark_cells,
        answers=_answers,
        by_place=True,
        offer=offer_cells,
        words=_words,
        listed=", ".join,
        right=_right,
        unanswerable=_unanswerable,
        prove=_prove,
        export=_export,
    ),
)
