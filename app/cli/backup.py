"""`backhand backup` and `backhand restore`: a copy of everything that learners wrote, and the way back."""

import asyncio
from pathlib import Path

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.store import database_copies as store


def backup(target: Path) -> None:
    settings = environment.settings()
    try:
        store.backup(settings.resolved_database_url, target)
    except store.BackupError as error:
        refuse(str(error), status=1)
    typer.echo(f"{target}: {target.stat().st_size:,} bytes.")


def restore(source: Path, *, replace: bool) -> None:
    settings = environment.settings()
    try:
        learners = asyncio.run(store.restore(settings.resolved_database_url, source, replace=replace))
    except store.BackupError as error:
        refuse(str(error), status=1)
    typer.echo(f"{source} is restored: {learners:,} learner{'s' * (learners != 1)}.")
