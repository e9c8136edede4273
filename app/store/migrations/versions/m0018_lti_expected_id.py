"""By which id of the class a platform knows somebody of its course."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("lti_member", sa.Column("expected_id", sa.String(200)))
