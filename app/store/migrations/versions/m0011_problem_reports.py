"""Problems with exercises, as learners report them."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "problem_report",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("created_at", UtcDateTime, nullable=False),
        sa.Column("lesson", sa.String(200), nullable=False),
        sa.Column("exercise", sa.String(200), nullable=False),
        sa.Column("edition", sa.String(16), nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("browser", sa.String(200), nullable=False),
        sa.Column("settled_at", UtcDateTime),
        sa.Column("settled_by", sa.Integer),
        sa.Column("answer", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("id", name="pk_problem_report"),
        sa.ForeignKeyConstraint(
            ["learner_id"], ["learner.id"], name="fk_problem_report_learner_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["settled_by"], ["learner.id"], name="fk_problem_report_settled_by", ondelete="SET NULL"
        ),
    )
    op.create_index("ix_problem_report_learner_id", "problem_report", ["learner_id"])
