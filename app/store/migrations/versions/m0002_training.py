"""Training runs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAME = sa.String(200)
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "training",
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("lesson", NAME, nullable=False),
        sa.Column("exercise", NAME, nullable=False),
        sa.Column("preset", NAME, nullable=False),
        sa.Column("attempt_id", sa.Integer()),
        sa.Column("passing", sa.Boolean(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("stopping", sa.Boolean(), nullable=False),
        sa.Column("began_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("learner_id", "lesson", "exercise", name="pk_training"),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name="fk_training_learner_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    op.drop_table("training")
