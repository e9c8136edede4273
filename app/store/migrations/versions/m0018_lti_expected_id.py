"""Id of the class under which a platform knows a person of its course."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("lti_member", sa.Column("expected_id", sa.String(200)))
