"""Trial of a sentence before learners see it: its example makes the mistake, and no right answer does."""

from dataclasses import dataclass

from app.content.blocks import Bug, CodeBox, Exercise, Lesson, Quiz
from app.content.text.mathml import words_of
from app.engine.json_columns import decoded_verdict
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.verdict import Verdict
from app.insight.mistakes import answer_of, mistake_key
from app.kinds.registry import is_named_answer, mark_quiz, quiz_kind, select_draw
from app.store import progress
from app.store.written_sentences import right_texts_of_all
from app.web.site import Site

OTHER_NUMBERS = "The example does not make this mistake. {told} Nothing was stored."
RIGHT_TOO = "A text that is right makes this mistake as well, so the sentence would be wrong for it:\n{text}"
RIGHT_ANSWER = "This answer is right, so the sentence would be wrong for it."
NO_ANSWER = "This is neither right nor wrong, so no sentence can be about it. {told}"
SAID_ALREADY = "The lesson has a sentence for this answer already: {told}"
OF_A_LEARNER = "one that a learner sent"


@dataclass(frozen=True, slots=True)
class SentenceTrial:
    """Trials of sentences at one exercise, on behalf of *learner*, as whose checks they count.

    Each of its methods raises a `RetryLaterError` where no grader can be asked now.
    """

    site: Site
    learner: int
    lesson: Lesson
    exercise: Exercise

    async def mistake_of(self, name: str, example: str) -> tuple[str, str]:
        """The mistake that *example* makes in *name*, and what is said of it; "" for one that is named."""
        if not isinstance(self.exercise, CodeBox):
            return example, ""
        verdict = await self._checked(self.exercise, example)
        row = next((row for row in verdict.names if row.name.replace(" ", "-") == name), None)
        return (row.key, row.message) if row else ("", verdict.message)

    async def fault_of(self, mistake: str, example: str) -> str:
        """Reason why a sentence for *mistake* with that *example* may not be shown; "" if it may."""
        if isinstance(self.exercise, Quiz):
            return await self._fault_of_answer(self.exercise, mistake)
        if text := await self._right_text_with(mistake):
            return RIGHT_TOO.format(text=text)
        met, words = await self.mistake_of(mistake.partition(":")[0], example)
        return "" if met == mistake else OTHER_NUMBERS.format(told=words or "It is right.")

    async def _fault_of_answer(self, quiz: Quiz, mistake: str) -> str:
        draw, given = answer_of(mistake)
        drawn_quiz = select_draw(quiz, draw)
        shapes = await self.site.shapes.about(self.lesson, drawn_quiz)
        forward = self.lesson.forwards.get(drawn_quiz.forward or "")
        feedback = mark_quiz(drawn_quiz, quiz_kind(drawn_quiz).values(given), shapes, forward)
        words = words_of(feedback.message)
        if feedback.correct is not False:
            return RIGHT_ANSWER if feedback.correct else NO_ANSWER.format(told=words)
        if is_named_answer(drawn_quiz, feedback):
            return SAID_ALREADY.format(told=words)
        async with self.site.database.read() as db:
            right = await right_texts_of_all(db, self.lesson.name, quiz.name)
        same = any(mistake_key(quiz, None, answer, verdict) == mistake for answer, verdict in right)
        return RIGHT_TOO.format(text=OF_A_LEARNER) if same else ""

    async def _right_text_with(self, mistake: str) -> str:
        """A right text that makes *mistake* all the same, of the author or of a learner; "" if none does."""
        box = self.exercise
        assert isinstance(box, CodeBox)
        for code in (box.solution, *box.alternatives):
            source = with_line(code.source, box.line) if isinstance(box, Bug) else code.source
            if _makes(await self._checked(box, source), mistake):
                return code.source
        async with self.site.database.read() as db:
            right = await right_texts_of_all(db, self.lesson.name, box.name)
        verdicts = [decoded_verdict(verdict) for _, verdict in right]
        return OF_A_LEARNER if any(each and _makes(each, mistake) for each in verdicts) else ""

    async def _checked(self, box: CodeBox, code: str) -> Verdict:
        site = self.site
        async with site.database.read() as db:
            stored = await progress.stored_verdict(db, site.tasks.key(self.lesson, box, code))
        return (await site.checks.check(self.learner, self.lesson, box, code, stored=stored)).verdict


def _makes(verdict: Verdict, mistake: str) -> bool:
    return any(row.key == mistake for row in verdict.names)
