"""Sentences for all who make one mistake, and who wrote them."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "written_sentence",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("class_id", sa.Integer),
        sa.Column("lesson", sa.String(200), nullable=False),
        sa.Column("exercise", sa.String(200), nullable=False),
        sa.Column("edition", sa.String(16), nullable=False),
        sa.Column("mistake", sa.String(200), nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("example", sa.Text, nullable=False),
        sa.Column("learner_id", sa.Integer),
        sa.Column("written_at", UtcDateTime, nullable=False),
        sa.Column("withdrawn_by", sa.Integer),
        sa.Column("withdrawn_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_written_sentence"),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_written_sentence_{column}", ondelete=ondelete)
            for column, table, ondelete in (
                ("class_id", "class", "CASCADE"),
                ("learner_id", "learner", "SET NULL"),
                ("withdrawn_by", "learner", "SET NULL"),
            )
        ),
    )
    op.create_index("ix_written_sentence_lesson_exercise", "written_sentence", ["lesson", "exercise"])
