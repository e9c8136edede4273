"""Whose a training run is, and where another process can go on with it."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("training", sa.Column("owner", sa.String(40)))
    op.add_column("training", sa.Column("halt", sa.Text()))


def downgrade() -> None:
    op.drop_column("training", "halt")
    op.drop_column("training", "owner")
