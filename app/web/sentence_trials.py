"""Trial of a sentence before anybody sees it: its example makes the mistake, and no right text does."""

from dataclasses import dataclass

from app.content.blocks import Grad, Lesson
from app.engine.json_columns import decoded_verdict
from app.grading.judge.verdict import Verdict
from app.store import progress
from app.store.written_sentences import right_texts_of_all
from app.web.site import Site
from app.web.views.sentence_view import gradient_of

OTHER_NUMBERS = "The example does not come to the numbers of this mistake. {told} Nothing was stored."
RIGHT_TOO = "A text that is right comes to this mistake as well, so the sentence would be wrong for it:\n{text}"


@dataclass(frozen=True, slots=True)
class SentenceTrial:
    """Trials of sentences at one box, on behalf of *learner*, as whose checks they count.

    Each of its methods raises a `RetryLaterError` where no grader can be asked now.
    """

    site: Site
    learner: int
    lesson: Lesson
    box: Grad

    async def mistake_of(self, name: str, example: str) -> tuple[str, str]:
        """The mistake that *example* makes in the gradient *name*, and what is said of it; "" for one that is named."""
        verdict = await self._checked(example)
        row = next((row for row in verdict.names if row.name == name), None)
        return (row.key, row.message) if row else ("", verdict.message)

    async def fault_of(self, mistake: str, example: str) -> str:
        """Reason why a sentence for *mistake* with that *example* may not be shown; "" if it may."""
        if text := await self._right_text_with(mistake):
            return RIGHT_TOO.format(text=text)
        made, told = await self.mistake_of(gradient_of(self.box, mistake), example)
        return "" if made == mistake else OTHER_NUMBERS.format(told=told or "It is right.")

    async def _right_text_with(self, mistake: str) -> str:
        """A right text that makes *mistake* all the same, of the author or of a learner; "" if none does."""
        for code in (self.box.solution, *self.box.alternatives):
            if _makes(await self._checked(code.source), mistake):
                return code.source
        async with self.site.database.read() as db:
            right = await right_texts_of_all(db, self.lesson.name, self.box.name)
        verdicts = [decoded_verdict(verdict) for _, verdict in right]
        return "one that a learner sent" if any(each and _makes(each, mistake) for each in verdicts) else ""

    async def _checked(self, code: str) -> Verdict:
        site = self.site
        async with site.database.read() as db:
            stored = await progress.stored_verdict(db, site.tasks.key(self.lesson, self.box, code))
        return (await site.checks.check(self.learner, self.lesson, self.box, code, stored=stored)).verdict


def _makes(verdict: Verdict, mistake: str) -> bool:
    return any(row.key == mistake for row in verdict.names)
