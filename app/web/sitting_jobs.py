"""Work on quiet sittings that no request waits for: programs are drawn and proved, time ends, answers are graded.

It asks graders one question at a time, and only while no learner waits for one: a class that hands in within a minute
slows down no page.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Lesson
from app.engine.grader import Grader
from app.engine.json_columns import to_json_column
from app.grading.judge.verdict import Verdict
from app.practice.pool import YieldingGrader
from app.practice.proof import NotProvedError, SupportsCheck, prove_item
from app.practice.sitting_names import item_name
from app.practice.sittings import PROGRAM, SLOTS, VARIANTS, SittingItems, program_candidates, slot_of_item
from app.store import sitting_results
from app.store.database import Database
from app.store.drafts import draft_of
from app.store.sittings import OwnSitting
from app.store.tables import Sitting, SittingAnswer
from app.web.checks import CheckResult, TaskRegistry

log = structlog.get_logger()

LOOK_SECONDS = 2.0
DRAW_SECONDS = 5.0
NOT_DRAWN = "Of item {item} no program could be drawn and proved. Take this sitting back, and choose other items."


class SittingJobs:
    """The jobs of one server; several may run at once.

    Args:
        operations: Those that the course teaches; programs use no others.
    """

    def __init__(
        self,
        database: Database,
        grader: Grader,
        tasks: TaskRegistry,
        items: SittingItems,
        operations: Callable[[], frozenset[str]],
        clock: Callable[[], datetime],
    ) -> None:
        self._database, self._tasks, self._items = database, tasks, items
        self._grader: SupportsCheck = YieldingGrader(grader)
        self._operations, self._clock = operations, clock

    async def draw_due(self) -> None:
        """Draw and prove the programs of every sitting that has none yet."""
        async with self._database.read() as db:
            sittings = await sitting_results.list_undrawn(db)
        for sitting in sittings:
            try:
                fault = await self._draw(sitting)
            except NotProvedError as error:
                log.info("sitting-not-drawn", assignment=sitting.assignment_id, why=str(error))
                continue
            async with self._database.write() as db:
                if row := await db.get(Sitting, sitting.assignment_id):
                    row.drawing_fault, row.drawn_at = fault, None if fault else self._clock()

    async def _draw(self, sitting: Sitting) -> str:
        """Draw what is missing; say what cannot be drawn, or ""."""
        within = sorted(self._operations())
        async with self._database.read() as db:
            stored = await sitting_results.programs_of(db, sitting.assignment_id)
        for item, slot in enumerate(slot_of_item(SLOTS.validate_json(sitting.slots_json)), start=1):
            known = {row.seed for row in stored.get(item, ())}
            if len(known) >= VARIANTS:
                continue
            for program in await asyncio.to_thread(program_candidates, slot, item, sitting.secret, within):
                if len(known) >= VARIANTS:
                    break
                if program.seed not in known and (await prove_item(program, self._grader)).kept:
                    text = PROGRAM.dump_json(program).decode()
                    async with self._database.write() as db:
                        await sitting_results.store_program(db, sitting.assignment_id, item, program.seed, text)
                    known.add(program.seed)
            if not known:
                return NOT_DRAWN.format(item=item)
        return ""

    async def close_and_grade(self) -> None:
        """Hand in what the clock has ended, and grade what is over for all."""
        async with self._database.read() as db:
            waiting = await sitting_results.is_anything_due(db, self._clock())
        if not waiting:
            return
        async with self._database.write() as db:
            await sitting_results.close_over(db, self._clock())
        try:
            while await self._grade_next():
                pass
        except (AssertionError, LookupError, ValueError):
            # One record that cannot be read waits for its lease; the clock goes on for all others.
            log.exception("sitting-not-graded")

    async def _grade_next(self) -> bool:
        """Grade what one learner handed in; False where nothing waits, or no grader can be asked."""
        async with self._database.write() as db:
            own = await sitting_results.claim_ungraded(db, self._clock())
            if own is None or own.record is None:
                return False
            texts = await _texts(db, own)
            lessons = await self._items.of(db, own)
        answers = []
        for item, lesson in enumerate(lessons, start=1):
            text = texts[item - 1]
            verdict = await self._verdict(lesson, text) if text.strip() else None
            if verdict is not None and verdict.outcome == "busy":
                async with self._database.write() as db:
                    await sitting_results.give_back(db, own)
                return False
            answers.append(_answer(own.record.assignment_id, own.record.learner_id, item, text, verdict))
        async with self._database.write() as db:
            await sitting_results.store_answers(db, own, answers, self._clock())
        return True

    async def _verdict(self, lesson: Lesson, text: str) -> Verdict:
        task = self._tasks.task(lesson, lesson.boxes[0])
        verdict = await self._grader.check(task, text)
        # A grader that failed once may have had bad luck.
        return await self._grader.check(task, text) if verdict.outcome == "fault" else verdict


async def _texts(db: AsyncSession, own: OwnSitting) -> list[str]:
    assert own.record is not None, "they have begun"
    learner, lesson = own.record.learner_id, own.assignment.lesson
    drafts = [
        await draft_of(db, learner, lesson, item_name(item)) for item in range(1, int(lesson.rpartition("-")[2]) + 1)
    ]
    return [draft.text if draft else "" for draft in drafts]


def _answer(assignment: int, learner: int, item: int, text: str, verdict: Verdict | None) -> SittingAnswer:
    attempt = CheckResult(verdict).as_attempt(text, "") if verdict else None
    return SittingAnswer(
        assignment_id=assignment, learner_id=learner, item=item, text=text,
        verdict_json=to_json_column(verdict) if verdict else None,
        correct=verdict is not None and verdict.passed, code=attempt.code if attempt else None,
    )  # fmt: skip
