"""`backhand backup` and `backhand restore`: a copy of everything that learners wrote, and the way back."""

import asyncio
from pathlib import Path

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.engine.grade.seeds import FILE
from app.store import database_copies as store
from app.web.course_reload import process_of

HIDDEN_NUMBERS = "hidden numbers are drawn under. Keep a copy beside it, for your eyes alone."
PLATFORMS = "keys for learning platforms are encrypted under. Keep a copy apart from it: both together sign for you."


def backup(target: Path) -> None:
    settings = environment.load_settings()
    try:
        store.backup_database(settings.resolved_database_url, target)
    except store.BackupError as error:
        refuse(str(error), status=1)
    typer.echo(f"{target}: {target.stat().st_size:,} bytes.")
    for secret, use in ((settings.data_dir / FILE, HIDDEN_NUMBERS), (settings.lti_secret_path, PLATFORMS)):
        if secret.exists():
            typer.echo(f"Not in it: {secret}, which {use}")


def restore(source: Path, *, replace: bool) -> None:
    settings = environment.load_settings()
    if (number := process_of(settings.data_dir)) is not None:
        refuse(
            f"A server is running with {settings.data_dir} (process {number}). Stop it first: what learners write "
            "meanwhile would be lost.",
            status=1,
        )
    try:
        learners = asyncio.run(store.restore_database(settings.resolved_database_url, source, replace=replace))
    except store.BackupError as error:
        refuse(str(error), status=1)
    typer.echo(f"{source} is restored: {learners:,} learner{'s' * (learners != 1)}.")
