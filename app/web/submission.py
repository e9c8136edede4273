"""One submission of a code box: its text is saved, graded, and recorded with the verdict, in this order."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.content.blocks import CodeBox, Lesson
from app.store import drafts, progress
from app.store.board import exercise_topic
from app.store.comparisons import record_shown
from app.store.drafts import SaveResult
from app.store.progress import AttemptSummary
from app.store.tables import Progress
from app.web.checks import CheckResult
from app.web.site import Site
from app.web.views.exercise_view import edition_in


def _mistakes(result: CheckResult) -> set[str]:
    """Mistakes that a sentence may be about."""
    return {name for row in result.verdict.names for name in (row.key, row.code) if name}


@dataclass(frozen=True, slots=True)
class Submission:
    """The *code* that *learner* sends from *box*.

    Args:
        revision: Of the draft that the page shows; a newer one is kept as a replaced text.
        watched: Whether the board of a class may show it.
    """

    site: Site
    learner: int
    lesson: Lesson
    box: CodeBox
    code: str
    revision: int | None
    watched: bool

    @property
    def _names(self) -> tuple[str, str]:
        return self.lesson.name, self.box.name

    @property
    def _key(self) -> str:
        return self.site.tasks.key(self.lesson, self.box, self.code)

    async def save(self) -> tuple[SaveResult, str | None]:
        """Save the text; with it, the stored verdict on the same text, if there is one."""
        async with self.site.database.write(short=True) as db:
            saved = await drafts.save_draft(db, self.learner, *self._names, self.code, base=self.revision)
            saved.draft.run_json = None
            return saved, await progress.stored_verdict(db, self._key)

    async def grade(self, stored: str | None) -> CheckResult:
        """Grade the text, or find the *stored* verdict.

        Raises:
            RetryLaterError: No grader could be asked now.
        """
        return await self.site.checks.check(self.learner, self.lesson, self.box, self.code, stored=stored)

    async def record(self, saved: SaveResult, result: CheckResult) -> tuple[AttemptSummary, Mapping[str, Progress]]:
        """Record the attempt and what it solved: all tries with it, and the progress in its lesson, by exercise."""
        site = self.site
        async with site.database.write(short=True) as db:
            attempt = result.as_attempt(self.code, self._key, saved.draft.revision)
            tries, rows = await progress.record_check(db, self.learner, *self._names, attempt, from_cache=result.found)
            if result.verdict.passed:
                edition = edition_in(site.kept, self.lesson, self.box)
                rows[self.box.name] = await progress.mark_solved(db, self.learner, *self._names, edition)
                if self.lesson.drawn:
                    await site.practice.catch_up(db, self.learner, self.lesson.name)
            if self.watched:
                await record_shown(db, self.learner, *self._names, _mistakes(result))
                await site.bus.publish(db, exercise_topic(*self._names))
        return tries, rows
