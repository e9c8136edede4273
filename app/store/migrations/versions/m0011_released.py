"""The tables of the first release; what it added is added where it is missing."""

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Nothing: see `app.store.migrate.add_missing`."""
