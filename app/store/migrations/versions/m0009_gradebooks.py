"""Headings of assignments, the exercises that they had, who grades, and what the last list changed on a roster."""

import sqlalchemy as sa
from alembic import op

from app.store.migrations.columns import MOMENT, NAME, of_learner

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("assignment", sa.Column("heading", NAME))
    op.add_column("assignment", sa.Column("known_exercises", sa.Text()))
    op.add_column("class", sa.Column("assistants_grade", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "roster_change",
        sa.Column("class_id", sa.Integer(), nullable=False),
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("external_id", NAME),
        sa.Column("label", NAME),
        sa.ForeignKeyConstraint(["class_id"], ["class.id"], name="fk_roster_change_class_id", ondelete="CASCADE"),
        of_learner("roster_change"),
        sa.PrimaryKeyConstraint("class_id", "learner_id", name="pk_roster_change"),
    )
    op.create_index("ix_roster_change_learner_id", "roster_change", ["learner_id"])


def downgrade() -> None:
    op.drop_table("roster_change")
    op.drop_column("class", "assistants_grade")
    op.drop_column("assignment", "known_exercises")
    op.drop_column("assignment", "heading")
