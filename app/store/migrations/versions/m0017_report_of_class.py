"""A report on exercises for each class that asks; what is kept of before is made anew."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.drop_table("item_report")
    op.create_table(
        "item_report",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("class_id", sa.Integer),
        sa.Column("asked_at", UtcDateTime, nullable=False),
        sa.Column("made_at", UtcDateTime),
        sa.Column("report_json", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_item_report"),
        sa.ForeignKeyConstraint(["class_id"], ["class.id"], name="fk_item_report_class_id", ondelete="CASCADE"),
    )
