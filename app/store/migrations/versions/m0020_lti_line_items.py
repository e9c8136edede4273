"""Columns of a platform's gradebook that launches do not name are looked for; platforms say what they are."""

import sqlalchemy as sa
from alembic import op

from app.store.database import UtcDateTime

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("lti_platform", sa.Column("family", sa.Text, nullable=False, server_default=""))
    op.add_column("lti_context", sa.Column("lineitems_scope", sa.Text))
    op.add_column("lti_line_item", sa.Column("resource_link_id", sa.Text))
    op.add_column("lti_line_item", sa.Column("creates", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("lti_line_item", sa.Column("seek_at", UtcDateTime))
    op.add_column("lti_line_item", sa.Column("seek_tries", sa.Integer, nullable=False, server_default="0"))
    op.add_column("lti_line_item", sa.Column("answer", sa.Text))
