"""Visits of instructors to the pages of a learner, as that learner sees them."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "learner_view",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("class_id", sa.Integer),
        sa.Column("seen_by", sa.Integer),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("began_at", UtcDateTime, nullable=False),
        sa.Column("ended_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_learner_view"),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name="fk_learner_view_learner_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["class_id"], ["class.id"], name="fk_learner_view_class_id", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["seen_by"], ["learner.id"], name="fk_learner_view_seen_by", ondelete="SET NULL"),
        sa.UniqueConstraint("token_hash", name="uq_learner_view_token_hash"),
    )
    op.create_index("ix_learner_view_learner_id", "learner_view", ["learner_id"])
