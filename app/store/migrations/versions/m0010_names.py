"""Tables are called as their classes, and columns by what they hold: `_at`, `_json`, `_id`."""

from collections.abc import Iterator, Mapping

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

TABLES: Mapping[str, str] = {
    "event": "audit_event",
    "excuse": "grade_override",
    "kept": "replaced_text",
    "practice_attempt": "served_item",
    "sitting": "practice_session",
    "ticket": "one_time_token",
    "training": "training_run",
}
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "assignment": {"exercises": "exercises_json", "known_exercises": "known_exercises_json"},
    "attempt": {"verdict": "verdict_json"},
    "audit_event": {"at": "recorded_at", "data": "data_json"},
    "card": {"state": "state_json"},
    "draft": {"run": "run_json"},
    "drill": {"at": "reached_at"},
    "extension": {"by": "set_by", "at": "set_at"},
    "former_member": {"solved": "solved_json", "overrides": "overrides_json"},
    "grade_override": {"by": "set_by", "at": "set_at"},
    "notice": {"at": "created_at", "data": "data_json"},
    "one_time_token": {"data": "data_json"},
    "practice_item": {"within": "within_json", "operations": "operations_json", "by": "line_operations_json"},
    "practice_session": {"plan": "plan_json", "seen_attempt": "seen_attempt_id"},
    "replaced_text": {"kept_at": "replaced_at"},
    "review": {"at": "reviewed_at"},
    "roster_change": {"at": "changed_at"},
    "session": {"via": "credential_id"},
    "training_run": {
        "run": "snapshot_json",
        "finished": "finished_json",
        "halt": "checkpoint_json",
        "seen_at": "lease_renewed_at",
    },
}


def upgrade() -> None:
    for old, new in TABLES.items():
        op.rename_table(old, new)
    for table, columns in COLUMNS.items():
        for old, new in columns.items():
            # Quoted: `by` and `at` are words of SQL.
            op.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{old}" TO "{new}"')
    inspector = sa.inspect(op.get_bind())
    for table in sorted({*TABLES.values(), *COLUMNS}):
        _name_indexes(inspector, table)
        _name_constraints(inspector, table)


def _name_constraints(inspector: sa.Inspector, table: str) -> None:
    """Call each constraint of *table* as `tables.Base` does."""
    names = list(_constraints(inspector, table))
    if op.get_bind().dialect.name == "postgresql":
        for old, new in names:
            op.execute(f'ALTER TABLE "{table}" RENAME CONSTRAINT "{old}" TO "{new}"')
        return
    # SQLite has the names in the text of the table alone, and its manual allows to change a text that means the same.
    # To make the table anew would delete the rows that point at it.
    op.execute("PRAGMA writable_schema = ON")
    text = sa.text("UPDATE sqlite_master SET sql = replace(sql, :old, :new) WHERE type = 'table' AND name = :table")
    for old, new in names:
        op.execute(text.bindparams(old=f"CONSTRAINT {old} ", new=f"CONSTRAINT {new} ", table=table))
    op.execute("PRAGMA writable_schema = RESET")


def _name_indexes(inspector: sa.Inspector, table: str) -> None:
    """Call each index of *table* as `tables.Base` does."""
    for index in inspector.get_indexes(table):
        columns = [str(column) for column in index["column_names"]]
        name = f"ix_{table}_{'_'.join(columns)}"
        if index["name"] != name and "duplicates_constraint" not in index:
            op.drop_index(str(index["name"]), table)
            op.create_index(name, table, columns)


def _constraints(inspector: sa.Inspector, table: str) -> Iterator[tuple[str, str]]:
    """Names of constraints of *table* that are called otherwise in `tables.Base`: before, and there."""
    named = [
        (inspector.get_pk_constraint(table)["name"], "pk"),
        *((key["name"], f"fk {key['constrained_columns'][0]}") for key in inspector.get_foreign_keys(table)),
        *((key["name"], f"uq {' '.join(key['column_names'])}") for key in inspector.get_unique_constraints(table)),
    ]
    for old, parts in named:
        kind, *columns = parts.split()
        new = "_".join((kind, table, *columns))
        if old != new:
            yield str(old), new
