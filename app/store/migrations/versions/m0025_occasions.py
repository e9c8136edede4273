"""Purpose of an item besides practice, and whether its first answer was right."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.add_column("served_item", sa.Column("purpose", sa.String(200), nullable=False, server_default=""))
    op.add_column("served_item", sa.Column("right_at_once", sa.Boolean))
