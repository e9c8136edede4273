"""Quiet sittings of a class: what is drawn, its programs, its learners and what they handed in."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0023"
down_revision = "0022"


def _moment(name: str) -> sa.Column[Any]:
    return sa.Column(name, UtcDateTime, nullable=True)


def _count(name: str, default: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer, nullable=False, server_default=sa.text(default))


def _owners(table: str, *names: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([f"{name}_id"], [f"{name}.id"], name=f"fk_{table}_{name}_id", ondelete="CASCADE")
        for name in names
    ]


def upgrade() -> None:
    op.create_table(
        "sitting",
        sa.Column("assignment_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("minutes", sa.Integer, nullable=False),
        sa.Column("slots_json", sa.Text, nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("shows", sa.String(10), nullable=False),
        _moment("drawn_at"),
        sa.Column("drawing_fault", sa.Text, nullable=False, server_default=""),
        _moment("released_at"),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_sitting"),
        *_owners("sitting", "assignment"),
    )
    op.create_table(
        "sitting_program",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("assignment_id", sa.Integer, nullable=False),
        sa.Column("item", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("program_json", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sitting_program"),
        sa.UniqueConstraint("assignment_id", "item", "seed", name="uq_sitting_program_assignment_id_item_seed"),
        *_owners("sitting_program", "assignment"),
    )
    op.create_table(
        "sitting_record",
        sa.Column("assignment_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        _count("extra_percent", "0"),
        _count("extra_minutes", "0"),
        _moment("opens_at"),
        _moment("until"),
        _moment("begun_at"),
        sa.Column("draw_json", sa.Text),
        sa.Column("token_hash", sa.String(64)),
        sa.Column("device", sa.String(200)),
        _moment("switched_at"),
        _count("switches", "0"),
        _count("switches_allowed", "1"),
        _moment("handed_in_at"),
        sa.Column("handed_in_by", sa.String(10)),
        _moment("graded_at"),
        _moment("leased_until"),
        sa.PrimaryKeyConstraint("assignment_id", "learner_id", name="pk_sitting_record"),
        *_owners("sitting_record", "assignment", "learner"),
    )
    op.create_table(
        "sitting_answer",
        sa.Column("assignment_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("item", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("verdict_json", sa.Text),
        sa.Column("correct", sa.Boolean, nullable=False),
        sa.Column("code", sa.String(200)),
        sa.PrimaryKeyConstraint("assignment_id", "learner_id", "item", name="pk_sitting_answer"),
        *_owners("sitting_answer", "assignment", "learner"),
    )
    for table in ("sitting_record", "sitting_answer"):
        op.create_index(f"ix_{table}_learner_id", table, ["learner_id"])
