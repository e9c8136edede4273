"""Columns that several revisions share.

A revision that has run somewhere never changes, so neither does what stands here: what differs gets another name.
"""

import sqlalchemy as sa

NAME = sa.String(200)
MOMENT = sa.DateTime(timezone=True)


def exercise_columns() -> list[sa.Column[object]]:
    """Columns that name the learner and the exercise of a row."""
    return [
        sa.Column("learner_id", sa.Integer(), nullable=False),
        sa.Column("lesson", NAME, nullable=False),
        sa.Column("exercise", NAME, nullable=False),
    ]


def of_learner(table: str) -> sa.ForeignKeyConstraint:
    """Foreign key to a learner: the rows are deleted with the learner."""
    return sa.ForeignKeyConstraint(["learner_id"], ["learner.id"], name=f"fk_{table}_learner_id", ondelete="CASCADE")
