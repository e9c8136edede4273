"""What was two learners' is one's: every text, the better of each progress, one live run, and nothing twice."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.data_export import list_learner_rows
from app.accounts.merge import MERGE_RULES, merge_learners
from app.store import cards, drafts, learners, progress, trainings
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.progress import NewAttempt
from app.store.tables import (
    Accommodation,
    Assignment,
    Attempt,
    AuditEvent,
    Base,
    Card,
    Class,
    Draft,
    Extension,
    Learner,
    LtiScore,
    Membership,
    Moment,
    PracticeItem,
    PracticeSession,
    Progress,
    ReplacedText,
    Review,
    RosterChange,
    TrainingRun,
)
from tests.examples import examples

pytestmark = pytest.mark.anyio

LESSON = "1-layers/01-linear.md"
AT = datetime(2026, 11, 1, tzinfo=UTC)
TEXTS = st.sampled_from(["", "  ", "dX = 1", "dX = 2", "dW = X.T @ dY", "x\n"])
PLACES = st.sampled_from(["a", "b"])
WRITING = st.lists(
    st.one_of(
        st.tuples(st.just("save"), PLACES, TEXTS),
        st.tuples(st.just("reset"), PLACES, TEXTS),
        st.tuples(st.just("check"), PLACES, TEXTS),
    ),
    max_size=8,
)


@pytest.fixture
async def other(database: Database) -> int:
    async with database.write() as db:
        return (await learners.begin_session(db))[0]


async def write(db: AsyncSession, learner: int, steps: list[tuple[str, str, str]]) -> set[str]:
    """Do what a learner does; all texts that the store has of them then."""
    for act, place, text in steps:
        saved = (await drafts.save_draft(db, learner, LESSON, place, text)).draft
        await db.flush()
        if act == "reset":
            await drafts.replace_draft(db, saved, "", "reset")
        if act == "check":
            answered = NewAttempt(kind="code", text=text, verdict="{}", correct=False)
            await progress.record_check(db, learner, LESSON, place, answered)
    await db.flush()
    return await texts_of(db, learner)


async def texts_of(db: AsyncSession, learner: int) -> set[str]:
    found: set[str] = set()
    for table in (Draft, ReplacedText, Attempt):
        found |= set(await db.scalars(select(table.text).where(table.learner_id == learner)))
    return {one for one in found if one.strip()}


@pytest.fixture(scope="module")
def one_database(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('texts') / 'texts.db'}"
    asyncio.run(migrate(url))
    return url


@given(mine=WRITING, theirs=WRITING)
@examples(8)
def test_every_text_of_both_is_there_afterwards(mine: list[Any], theirs: list[Any], one_database: str) -> None:
    before, after, left = asyncio.run(_texts(one_database, mine, theirs))

    assert after == before
    assert left == set()


async def _texts(url: str, mine: list[Any], theirs: list[Any]) -> tuple[set[str], set[str], set[str]]:
    database = Database(url)
    async with database.write() as db:
        one, _ = await learners.begin_session(db)
        other, _ = await learners.begin_session(db)
        before = await write(db, one, mine) | await write(db, other, theirs)
    async with database.write() as db:
        assert await merge_learners(db, other, one)
    async with database.read() as db:
        found = before, await texts_of(db, one), await texts_of(db, other)
    await database.close()
    return found


def test_every_table_of_a_learner_has_a_rule() -> None:
    """A row of a table without one would go with the learner that is merged into the other."""
    theirs = {table.name for table in Base.metadata.sorted_tables if "learner_id" in table.c}
    ruled = Counter(rule.table.__tablename__ for rule in MERGE_RULES)

    assert theirs == set(ruled)
    assert max(ruled.values()) == 1


def test_every_rule_knows_what_a_learner_may_have_once() -> None:
    for rule in MERGE_RULES:
        table = Base.metadata.tables[rule.table.__tablename__]
        unique = [{one.name for one in table.primary_key}]
        unique += [
            {one.name for one in key.columns} for key in table.constraints if type(key).__name__ == "UniqueConstraint"
        ]
        theirs = [key - {"learner_id"} for key in unique if "learner_id" in key]

        assert theirs == ([set(rule.key)] if rule.join else []), table.name


@pytest.mark.parametrize(
    ("row", "another", "changes"),
    [
        (Moment(happened_at=AT), Moment(happened_at=AT + timedelta(days=1)), {"happened_at": AT}),
        (RosterChange(is_new=True), RosterChange(is_new=False), {"is_new": False}),
        (Accommodation(extra_days=2), Accommodation(extra_days=5), {"extra_days": 5}),
        (
            LtiScore(changed_at=AT, refused_at=AT),
            LtiScore(changed_at=AT - timedelta(days=1), refused_at=AT),
            {"changed_at": AT, "refused_at": None},
        ),
    ],
)
def test_a_merged_row_has_the_same_columns_whichever_of_the_two_stays(
    row: Any, another: Any, changes: dict[str, Any]
) -> None:
    join = {rule.table: rule.join for rule in MERGE_RULES}[type(row)]

    assert join is not None
    assert join(row, another).changes == join(another, row).changes == changes


async def test_texts_of_both_are_there_in_each_database(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        before = await write(db, me, [("save", "a", "mine"), ("save", "b", "only mine")])
        before |= await write(db, other, [("check", "a", "tried"), ("save", "a", "theirs"), ("reset", "c", "kept")])

    async with database.write() as db:
        assert await merge_learners(db, other, me)

    async with database.read() as db:
        assert await texts_of(db, me) == before == {"mine", "only mine", "tried", "theirs", "kept"}
        assert (await db.get_one(Draft, (me, LESSON, "a"))).text == "theirs"  # written last
        kept = await drafts.kept_texts(db, me, LESSON, "a")
        assert [(one.text, one.reason) for one in kept] == [("mine", "sign-in")]
        assert await db.get(Learner, other) is None


async def test_an_open_tab_learns_that_its_text_has_changed(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        await write(db, me, [("save", "a", "one"), ("save", "a", "two")])
        await write(db, other, [("save", "a", "theirs")])

    async with database.write() as db:
        await merge_learners(db, other, me)
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, LESSON, "a", "typed on", base=2)

    assert saved.conflict
    async with database.read() as db:
        assert {"theirs", "typed on", "two"} <= await texts_of(db, me)


async def test_the_better_of_each_progress_stays(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        db.add(Progress(learner_id=me, lesson=LESSON, exercise="a", solved_at=AT + timedelta(1), hints=1))
        db.add(Progress(learner_id=other, lesson=LESSON, exercise="a", solved_at=AT, hints=3, solution_at=AT))
        db.add(Progress(learner_id=other, lesson=LESSON, exercise="b", solved_at=AT, hints=0))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        rows = await progress.progress_in(db, me, LESSON)
        assert [(row.solved_at, row.hints, row.solution_at) for row in rows.values()] == [(AT, 3, AT), (AT, 0, None)]


def run(learner: int, exercise: str, began: datetime, **values: Any) -> TrainingRun:
    text = json.dumps({"phase": "training", "seconds_left": 3.0, "of": learner})
    own = {
        "preset": "short",
        "attempt_id": None,
        "passing": True,
        "snapshot_json": text,
        "finished_json": None,
        "live": True,
    }
    row = {**own, "stopping": False, "owner": "here", "checkpoint_json": "{}", "lease_renewed_at": now(), **values}
    return TrainingRun(learner_id=learner, lesson=LESSON, exercise=exercise, began_at=began, **row)


@pytest.mark.parametrize("places", [("a", "b"), ("a", "a")])
async def test_of_two_live_runs_the_later_goes_on_and_the_other_has_ended(
    database: Database, me: int, other: int, places: tuple[str, str]
) -> None:
    async with database.write() as db:
        db.add(run(me, places[0], AT))
        db.add(run(other, places[1], AT + timedelta(hours=1)))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.write() as db:
        live = await trainings.live_training(db, me)
        assert live is not None
        assert (json.loads(live.snapshot_json)["of"], live.exercise) == (other, places[1])
        assert [one.exercise for one in await trainings.claim_orphaned_runs(db, "another", 9)] == [places[1]]
        rest = [one for one in await trainings.trainings_by(db, me) if not one.live]
        assert [json.loads(one.snapshot_json)["phase"] for one in rest] == ["stopped"] * (len(set(places)) - 1)


async def test_a_live_run_stays_and_so_does_what_a_finished_one_came_to(
    database: Database, me: int, other: int
) -> None:
    async with database.write() as db:
        db.add(run(me, "a", AT, finished_json="mine"))
        db.add(run(other, "a", AT + timedelta(hours=1), live=False, finished_json="theirs"))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        row = await trainings.training_of(db, me, LESSON, "a")
        assert row is not None
        assert (row.live, row.finished_json, json.loads(row.snapshot_json)["of"]) == (True, "mine", me)


async def _class(db: AsyncSession, by: int) -> int:
    row = Class(name="c", timezone="UTC", join_code=None, joining="open", created_by=by, created_at=AT)
    db.add(row)
    await db.flush()
    return row.id


def member(of: int, learner: int, **values: Any) -> Membership:
    own = {"role": "learner", "name": f"n{learner}", "external_id": None, "label": None, "left_at": None}
    return Membership(class_id=of, learner_id=learner, **{**own, "blocked": False, "joined_at": AT, **values})


async def test_who_is_in_one_class_twice_is_in_it_once_with_the_id_of_the_school(
    database: Database, me: int, other: int
) -> None:
    async with database.write() as db:
        at = await _class(db, other)
        db.add(member(at, me, role="assistant", left_at=AT))
        db.add(member(at, other, external_id="s1", label="G1"))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (row,) = await db.scalars(select(Membership))
        assert (row.learner_id, row.role, row.external_id, row.label, row.left_at) == (
            me,
            "assistant",
            "s1",
            "G1",
            None,
        )
        assert await db.scalar(select(Class.created_by)) == me


@pytest.mark.parametrize("blocked", [0, 1])
async def test_who_is_blocked_in_a_class_is_so_after_signing_in(
    database: Database, me: int, other: int, blocked: int
) -> None:
    async with database.write() as db:
        at = await _class(db, me)
        db.add(member(at, (me, other)[blocked], blocked=True, left_at=AT))
        db.add(member(at, (other, me)[blocked], role="instructor"))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (row,) = await db.scalars(select(Membership))
        assert (row.blocked, row.left_at, row.role) == (True, AT, "learner")


async def test_the_longer_extension_stays_and_who_gave_it_is_still_named(
    database: Database, me: int, other: int
) -> None:
    async with database.write() as db:
        at = await _class(db, me)
        task = Assignment(class_id=at, lesson=LESSON, late_share=0.5, points=1)
        db.add(task)
        await db.flush()
        for learner, days in ((me, 1), (other, 2)):
            due = AT + timedelta(days)
            db.add(
                Extension(assignment_id=task.id, learner_id=learner, due_at=due, reason="ill", set_by=other, set_at=AT)
            )

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (row,) = await db.scalars(select(Extension))
        assert (row.learner_id, row.set_by, row.due_at) == (me, me, AT + timedelta(2))


@pytest.mark.parametrize(("mine", "theirs"), [(9, None), (None, 9), (9, 7), (7, 9)])
async def test_of_two_extensions_the_longer_late_time_stays(
    database: Database, me: int, other: int, mine: int | None, theirs: int | None
) -> None:
    async with database.write() as db:
        task = Assignment(class_id=await _class(db, me), lesson=LESSON, late_share=0.5, points=1)
        db.add(task)
        await db.flush()
        for learner, due, late in ((me, 1, mine), (other, 2, theirs)):
            db.add(
                Extension(
                    assignment_id=task.id,
                    learner_id=learner,
                    due_at=AT + timedelta(due),
                    late_until=late and AT + timedelta(late),
                    reason="ill",
                    set_by=other,
                    set_at=AT,
                )
            )

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (row,) = await db.scalars(select(Extension))
        assert (row.due_at, row.late_until) == (AT + timedelta(2), AT + timedelta(9))


@pytest.mark.parametrize(("mine", "theirs"), [(1, 3), (3, 1), (2, 2)])
async def test_merged_cards_keep_the_more_reviewed_one_and_all_reviews(
    database: Database, me: int, other: int, mine: int, theirs: int
) -> None:
    async with database.write() as db:
        item = PracticeItem(
            version=1, level=1, seed=1, wanted="", form="write", fragment="", forward="", solution="",
            operations_json="[]", points=1, proved_at=AT, within_json="", line_operations_json="[]",
        )  # fmt: skip
        db.add(item)
        for learner, met in ((me, mine), (other, theirs)):
            due = AT + timedelta(learner)
            card = Card(
                learner_id=learner, family="sum", slip="", state_json=str(learner), met=met, due_at=due, opened_at=AT
            )
            db.add(card)
            await db.flush()
            db.add_all([Review(card_id=card.id, item_id=item.id, rating=3, reviewed_at=AT) for _ in range(met)])

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (card,) = await db.scalars(select(Card))
        assert (card.learner_id, card.state_json, card.met) == (me, str(other if theirs > mine else me), mine + theirs)
        assert list(await db.scalars(select(Review.card_id))) == [card.id] * (mine + theirs)


async def test_reviews_of_cards_are_taken_away_with_them(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        for learner, rating in ((me, 3), (other, 1)):
            card = Card(learner_id=learner, family="sum", slip="", state_json="{}", met=1, due_at=AT, opened_at=AT)
            db.add(card)
            await db.flush()
            db.add(Review(card_id=card.id, rating=rating, reviewed_at=AT))

    async with database.read() as db:
        rows = await list_learner_rows(db, me)

    assert [row["rating"] for row in rows["review"]] == [3]


async def test_two_tabs_that_merge_the_same_two_do_it_once(database: Database, me: int, other: int) -> None:
    async with database.write() as db:
        before = await write(db, me, [("save", "a", "mine")]) | await write(db, other, [("save", "a", "theirs")])

    async def in_a_tab(source: int, into: int) -> bool:
        async with database.write() as db:
            return await merge_learners(db, source, into)

    done = await asyncio.gather(in_a_tab(other, me), in_a_tab(me, other), in_a_tab(other, me))

    assert sorted(done) == [False, False, True]
    async with database.read() as db:
        (left,) = await db.scalars(select(Learner.id))
        assert await texts_of(db, left) == before


async def test_a_text_that_is_saved_while_learners_are_merged_is_lost_by_nobody(
    database: Database, me: int, other: int
) -> None:
    """Whoever writes first is waited for; whoever comes later is told, and sends it again as somebody else."""

    async def save(text: str) -> str:
        try:
            async with database.write() as db:
                answered = NewAttempt(kind="code", text=text, verdict="{}", correct=False)
                await progress.record_check(db, other, LESSON, "a", answered)
        except Exception:  # what it is, depends on the database
            return ""
        return text

    async def join() -> str:
        async with database.write() as db:
            await merge_learners(db, other, me)
        return ""

    said = await asyncio.gather(
        *(save(f"text {at}") for at in range(4)), join(), *(save(f"late {at}") for at in range(4))
    )

    async with database.read() as db:
        assert await texts_of(db, me) == {one for one in said if one}


async def test_a_merge_is_recorded_in_a_fixed_number_of_statements(database: Database, me: int) -> None:
    sent: list[str] = []
    event.listen(database.engine.sync_engine, "before_cursor_execute", lambda _c, _cu, sql, *_: sent.append(sql))
    counts, sources = [], []
    for rows in (2, 200):
        async with database.write() as db:
            source, _ = await learners.begin_session(db)
            row = {"learner_id": source, "lesson": LESSON, "kind": "code", "text": "x", "verdict_json": "{}"}
            db.add_all([Attempt(**row, exercise=f"e{at}", created_at=AT) for at in range(rows)])
        sent.clear()
        async with database.write() as db:
            await merge_learners(db, source, me)
        counts.append(len(sent))
        sources.append(f"learner {source}")

    assert counts[0] == counts[1]
    async with database.read() as db:
        assert list(await db.scalars(select(AuditEvent.subject).where(AuditEvent.verb == "merged"))) == sources


async def test_nobody_is_merged_into_themselves_or_into_nobody(database: Database, me: int) -> None:
    async with database.write() as db:
        assert not await merge_learners(db, me, me)
        assert not await merge_learners(db, me, me + 999)
        assert not await merge_learners(db, me + 999, me)
        assert await db.get(Learner, me) is not None


@pytest.mark.parametrize("moved", [True, False])
async def test_slips_from_before_the_practice_of_the_other_still_open_cards(
    database: Database, me: int, other: int, *, moved: bool
) -> None:
    slipped, practised = (other, me) if moved else (me, other)
    slip = NewAttempt(kind="code", text="dX = dy", verdict="{}", correct=False, code="dX:transposed")
    async with database.write() as db:
        for learner in (slipped, practised):
            await progress.record_check(db, learner, LESSON, "a", slip)
        await db.flush()
        practice_session = await cards.start_practice_session(db, practised, "", AT)
        practice_session.seen_attempt_id = await db.scalar(select(func.max(Attempt.id))) or 0
        made = await db.scalar(select(Attempt.id).where(Attempt.learner_id == slipped))

    async with database.write() as db:
        await merge_learners(db, other, me)

    async with database.read() as db:
        (practice_session,) = await db.scalars(select(PracticeSession))
        assert made in {each.id for each in await cards.slips_since(db, me, practice_session.seen_attempt_id)}
