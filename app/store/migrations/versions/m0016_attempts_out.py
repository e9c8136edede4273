"""Permission to take out the attempts of a class, under pseudonyms."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("class", sa.Column("attempts_out", sa.Boolean, nullable=False, server_default=sa.false()))
