"""Two wordings that a class compares, and who saw which."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "comparison",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("lesson", sa.String(200), nullable=False),
        sa.Column("exercise", sa.String(200), nullable=False),
        sa.Column("about", sa.String(200), nullable=False),
        sa.Column("first", sa.Text, nullable=False),
        sa.Column("second", sa.Text, nullable=False),
        sa.Column("learner_id", sa.Integer),
        sa.Column("began_at", UtcDateTime, nullable=False),
        sa.Column("ended_at", UtcDateTime),
        sa.PrimaryKeyConstraint("id", name="pk_comparison"),
        sa.ForeignKeyConstraint(["class_id"], ["class.id"], name="fk_comparison_class_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name="fk_comparison_learner_id", ondelete="SET NULL"),
    )
    op.create_index("ix_comparison_lesson", "comparison", ["lesson"])
    op.create_table(
        "comparison_draw",
        sa.Column("comparison_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("arm", sa.Integer, nullable=False),
        sa.Column("shown_at", UtcDateTime, nullable=False),
        sa.PrimaryKeyConstraint("comparison_id", "learner_id", name="pk_comparison_draw"),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name="fk_comparison_draw_comparison_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["learner_id"], ["learner.id"], name="fk_comparison_draw_learner_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_comparison_draw_learner_id", "comparison_draw", ["learner_id"])
