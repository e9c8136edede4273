"""Data export and deletion of one learner: everything stored about them.

What is taken away follows the tables: a new one with a `learner_id`, or one whose rows go with those of such a one, is
in it without a word here.
"""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Table, delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.store.classes import RefusedError, record_event
from app.store.database import lock_learner
from app.store.former_members import keep_all_grades
from app.store.tables import Base, Class, FormerMember, Learner, Membership

SECRETS = frozenset({"secret", "token_hash", "checkpoint_json"})
"""Columns that open something, or that only a server can read."""
TEXTS = {"draft": "draft", "replaced_text": "replaced", "attempt": "check"}
"""Tables whose rows hold a text, and how its file begins."""
README = """\
Everything that Backhand keeps of you.

texts/      what you wrote, by lesson and exercise: `draft.py` stands in the box now, `check-*.py` were checked or
            answered, `replaced-*.py` were replaced without a check
*.jsonl     the same and everything else, one line of JSON for each row of a table. Times are in UTC.

Left out are passwords, keys and tokens, of which the server keeps hashes, and the numbers from which a training run
would go on.
"""

Rows = Mapping[str, list[dict[str, Any]]]


async def list_learner_rows(db: AsyncSession, learner: int) -> Rows:
    """By table, the rows of *learner*."""
    rows_by_table: dict[str, list[dict[str, Any]]] = {}
    for table in Base.metadata.sorted_tables:
        of_learner = _condition(table, learner)
        if of_learner is not None:
            shown = [column for column in table.c if column.name not in SECRETS]
            rows = await db.execute(select(*shown).where(of_learner).order_by(*table.primary_key))
            rows_by_table[table.name] = [dict(row._mapping) for row in rows]
    return rows_by_table


def _condition(table: Table, learner: int) -> ColumnElement[bool] | None:
    """The condition for rows of *learner*, or of what is theirs and takes its rows with it; None where none can be."""
    if "learner_id" in table.c or table is Learner.__table__:
        return (table.c.id if table is Learner.__table__ else table.c.learner_id) == learner
    owned = (key for key in table.foreign_keys if key.ondelete == "CASCADE" and "learner_id" in key.column.table.c)
    return next(
        (key.parent.in_(select(key.column).where(key.column.table.c.learner_id == learner)) for key in owned), None
    )


def zip_archive(rows: Rows) -> bytes:
    """*rows* as a zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README)
        for table, table_rows in rows.items():
            lines = (json.dumps(row, default=str, ensure_ascii=False) for row in table_rows)
            archive.writestr(f"{table}.jsonl", _bytes("".join(f"{line}\n" for line in lines)))
            for row in table_rows if table in TEXTS else ():
                archive.writestr(_path(TEXTS[table], row), _bytes(row["text"]))
    return file.getvalue()


def _path(word: str, row: dict[str, Any]) -> str:
    place = "/".join(re.sub(r"[^\w.-]", "_", row[name]).strip(".") or "_" for name in ("lesson", "exercise"))
    return f"texts/{place}/{word}{'-' + str(row['id']) if 'id' in row else ''}.py"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


async def delete_learner(
    db: AsyncSession, learner: int, *, by_operator: bool = False, with_grades: bool = False
) -> None:
    """Let nothing of *learner* be left, but that it was done, and (unless *with_grades*) their points in gradebooks.

    Raises:
        RefusedError: A class would be without an instructor.
    """
    await lock_learner(db, learner)
    own, other = aliased(Membership), aliased(Membership)
    another = exists().where(
        other.class_id == own.class_id,
        other.learner_id != learner,
        other.role == "instructor",
        other.left_at.is_(None),
    )
    alone = (
        select(Class.name)
        .join(own, own.class_id == Class.id)
        .where(own.learner_id == learner, own.role == "instructor", own.left_at.is_(None))
        .where(Class.archived_at.is_(None), ~another)
    )
    name = await db.scalar(alone.limit(1))
    if name is not None:
        who = "They" if by_operator else "You"
        raise RefusedError(
            f"{who} are the only instructor of {name}. Make somebody else one first, or archive the class."
        )
    if with_grades:
        await db.execute(delete(FormerMember).where(FormerMember.learner_id == learner))
    else:
        await keep_all_grades(db, learner, "deleted")
    detail = f"the operator deleted learner {learner}" if by_operator else f"learner {learner} deleted themselves"
    await record_event(db, None, None, "deleted", f"learner {learner}", said=detail)
    await db.flush()
    await db.execute(delete(Learner).where(Learner.id == learner).execution_options(synchronize_session=False))
