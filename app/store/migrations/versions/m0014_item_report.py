"""The report on all exercises."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "item_report",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("asked_at", UtcDateTime, nullable=False),
        sa.Column("made_at", UtcDateTime),
        sa.Column("report_json", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_item_report"),
    )
