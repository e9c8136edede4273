"""Mistakes that have another code now, in the attempts that were told the old one.

A code that is still given stands, although the same lines may get a closer one today: only a code that nobody gets any
more would be lost to whoever counts them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

RENAMED = {"average-changed": "factor-missing"}
"""What follows the name of a gradient in a code: what it was, and what it is."""


def upgrade() -> None:
    # In a verdict a code ends with the quote of its string; a quote in a learner's text is escaped.
    statement = sa.text(
        "UPDATE attempt SET code = REPLACE(code, :old, :new), verdict = REPLACE(verdict, :told, :telling) "
        "WHERE verdict LIKE :anywhere"
    )
    for old, new in RENAMED.items():
        told, telling = f':{old}"', f':{new}"'
        op.execute(statement.bindparams(old=f":{old}", new=f":{new}", told=told, telling=telling, anywhere=f"%{told}%"))


def downgrade() -> None:
    """Nobody knows which of them had which."""
