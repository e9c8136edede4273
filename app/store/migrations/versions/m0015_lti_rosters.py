"""Moment at which the people of a platform's course were read last, and what went wrong."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("lti_context", sa.Column("roster_read_at", UtcDateTime))
    op.add_column("lti_context", sa.Column("roster_answer", sa.Text))
