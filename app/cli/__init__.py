"""The `backhand` command: `commands` reads its arguments; a module per command does what it says."""

from app.cli.commands import app


def main() -> None:
    """Entry point of the installed command."""
    app()
