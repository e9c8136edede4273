"""The `backhand` command: `commands` reads its arguments; a module per command does what it says."""

import gc

from app.cli.commands import app

BETWEEN_COLLECTIONS = (50_000, 20, 20)
"""Nearly all that is made while modules and lessons are read stays: to look for garbage in it as often as usual is an
eighth of what a command takes to start."""


def main() -> None:
    """Entry point of the installed command."""
    gc.set_threshold(*BETWEEN_COLLECTIONS)
    app()
