"""The tables before the first release, made by unreleased versions; a new database is never at this revision."""

revision = "0009"
down_revision = None


def upgrade() -> None:
    """Nothing: databases are at this revision already, or begin at the newest one."""
