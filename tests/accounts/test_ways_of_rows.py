"""Every table of a learner: what becomes of its rows when a seat is taken, or given to another browser."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, Integer, Table, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import recovery
from app.store import classes, joining, learners, rosters, sittings
from app.store.database import Database, UtcDateTime, now
from app.store.tables import Base, Class, Learner
from tests.store.test_sittings import SETTINGS

pytestmark = pytest.mark.anyio

ARRANGED = {"membership", "accommodation", "extension", "grade_override", "roster_change", "sitting_record"}
WRITTEN = {"sitting_answer", "draft", "replaced_text", "progress", "attempt"}
OF_NO_SEAT = {
    # Of the account and the browser.
    "session", "credential", "notice", "learner_view",
    # What a learner did, of which a class sees nothing under their name.
    "moment", "training_run", "problem_report", "comparison_draw", "served_item", "card", "practice_session", "drill",
    # Of those who teach, who left, and whom a platform signs in.
    "written_sentence", "comparison", "former_member", "lti_member", "lti_score",
}  # fmt: skip
TABLES = {table.name: table for table in Base.metadata.sorted_tables if "learner_id" in table.c}
SAMPLES = ((Boolean, False), (Integer, 1), (Float, 1.0), (UtcDateTime, now()))
NUMBERS = count()


async def add_row(db: AsyncSession, table: Table, known: Mapping[str, Any]) -> Any:
    """A row with these values where *table* has such columns, of rows that are made where it points at others."""
    values = {}
    for column in table.c:
        needed = not (column.nullable or column.default or column.server_default or column.name == "id")
        if column.name in known:
            values[column.name] = known[column.name]
        elif needed and column.foreign_keys:
            (key,) = column.foreign_keys
            values[column.name] = await add_row(db, key.column.table, {})
        elif needed:
            values[column.name] = next(
                (one for kind, one in SAMPLES if isinstance(column.type, kind)), f"{next(NUMBERS)}"
            )
    return (await db.execute(insert(table).values(values))).inserted_primary_key[0]


async def leave_rows(db: AsyncSession, group: Class, learner: int) -> None:
    """A row of each table at a sitting of the class: but a membership, which is there, and an account."""
    row = await sittings.create_sitting(db, group.id, SETTINGS, "[]", 2, None)
    known = {"learner_id": learner, "class_id": group.id, "assignment_id": row.id, "lesson": row.lesson}
    for name, table in TABLES.items():
        if name not in ("membership", "credential"):
            await add_row(db, table, {**known, "exercise": "item-1", "item": 1})


async def tables_of(db: AsyncSession, learner: int) -> set[str]:
    """Those that have a row of *learner*, who came with a session alone."""
    return {
        name
        for name, table in TABLES.items()
        if name != "session" and (await db.execute(select(table).where(table.c.learner_id == learner))).first()
    }


def test_every_table_of_a_learner_has_a_way() -> None:
    assert set(TABLES) == ARRANGED | WRITTEN | OF_NO_SEAT


async def test_who_takes_a_seat_gets_all_that_was_set_for_it(database: Database, me: int) -> None:
    async with database.write() as db:
        group = await classes.create_class(db, "Algebra", "UTC", None)
        seat = await rosters.reserve_seat(db, group, "Bob", "learner")
        kept_for = seat.learner_id
        await leave_rows(db, group, kept_for)
        await joining.take_seat(db, seat, me, "Bob")

    async with database.read() as db:
        assert (await tables_of(db, me), await db.get(Learner, kept_for)) == (ARRANGED, None)


async def test_by_a_personal_link_comes_what_the_class_sees(database: Database, me: int) -> None:
    async with database.write() as db:
        ada, _ = await learners.begin_session(db)
        group = await classes.create_class(db, "Algebra", "UTC", ada, "Ada")
        person = await joining.join_class(db, group, me, "Bob")
        await leave_rows(db, group, me)
        word = await recovery.seat_link(db, group, person, ada)
    async with database.write() as db:
        new, _ = await learners.begin_session(db)
        await recovery.move_seat(db, word, new)

    async with database.read() as db:
        assert await tables_of(db, new) == ARRANGED | WRITTEN
