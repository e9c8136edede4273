"""Training runs."""

import sqlalchemy as sa
from alembic import op

from app.store.migrations.columns import MOMENT, NAME, exercise_columns, of_learner

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "training",
        *exercise_columns(),
        sa.Column("preset", NAME, nullable=False),
        sa.Column("attempt_id", sa.Integer()),
        sa.Column("passing", sa.Boolean(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("stopping", sa.Boolean(), nullable=False),
        sa.Column("began_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("learner_id", "lesson", "exercise", name="pk_training"),
        of_learner("training"),
    )


def downgrade() -> None:
    op.drop_table("training")
