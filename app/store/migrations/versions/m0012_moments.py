"""Moments of learners at hints and lessons, and editions of the exercises."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "moment",
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("lesson", sa.String(200), nullable=False),
        sa.Column("exercise", sa.String(200), nullable=False),
        sa.Column("what", sa.String(20), nullable=False),
        sa.Column("happened_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("learner_id", "lesson", "exercise", "what", name="pk_moment"),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name="fk_moment_learner_id", ondelete="CASCADE"),
    )
    op.create_table(
        "exercise_edition",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("lesson", sa.String(200), nullable=False),
        sa.Column("exercise", sa.String(200), nullable=False),
        sa.Column("edition", sa.String(16), nullable=False),
        sa.Column("since", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_exercise_edition"),
    )
    op.create_index("ix_exercise_edition_lesson_exercise", "exercise_edition", ["lesson", "exercise"])
