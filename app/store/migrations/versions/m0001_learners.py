"""Learners, their sessions, drafts, attempts and progress."""

import sqlalchemy as sa
from alembic import op

from app.store.migrations.columns import MOMENT, NAME, exercise_columns, of_learner

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "learner",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("opened_lesson", NAME),
        sa.Column("opened_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_learner"),
    )
    op.create_table(
        "session",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_session"),
        of_learner("session"),
    )
    op.create_index("ix_session_learner_id", "session", ["learner_id"])
    op.create_table(
        "draft",
        *exercise_columns(),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("saved_at", MOMENT, nullable=False),
        sa.Column("run", sa.Text()),
        sa.PrimaryKeyConstraint("learner_id", "lesson", "exercise", name="pk_draft"),
        of_learner("draft"),
    )
    op.create_table(
        "kept",
        sa.Column("id", sa.Integer(), nullable=False),
        *exercise_columns(),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(20), nullable=False),
        sa.Column("kept_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_kept"),
        of_learner("kept"),
    )
    op.create_index("ix_kept_learner_id_lesson_exercise", "kept", ["learner_id", "lesson", "exercise"])
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        *exercise_columns(),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("correct", sa.Boolean()),
        sa.Column("code", NAME),
        sa.Column("task_key", sa.String(64)),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempt"),
        of_learner("attempt"),
    )
    op.create_index("ix_attempt_learner_id_lesson_exercise", "attempt", ["learner_id", "lesson", "exercise"])
    op.create_index("ix_attempt_task_key", "attempt", ["task_key"])
    op.create_table(
        "progress",
        *exercise_columns(),
        sa.Column("solved_at", MOMENT),
        sa.Column("hints", sa.Integer(), nullable=False),
        sa.Column("solution_at", MOMENT),
        sa.PrimaryKeyConstraint("learner_id", "lesson", "exercise", name="pk_progress"),
        of_learner("progress"),
    )


def downgrade() -> None:
    for table in ("progress", "attempt", "kept", "draft", "session", "learner"):
        op.drop_table(table)
