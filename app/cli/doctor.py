"""`backhand doctor`: what protects the machine that runs learners' code, and what is missing."""

import asyncio
import sys
from typing import TYPE_CHECKING

import typer
from sqlalchemy.exc import SQLAlchemyError

from app.cli import environment
from app.cli.graders import require_secret
from app.cli.refuse import refuse
from app.engine.grade.seeds import FILE, seeds_in
from app.engine.train.corpus_file import load_names
from app.grading.train.corpus import NamesError
from app.installation import DATABASE, adopt_misplaced, misplaced_databases
from app.sandbox import kernel
from app.settings import Settings
from app.store.database import Database
from app.store.lti_platforms import list_platforms

if TYPE_CHECKING:
    from app.sandbox.protection import Layer

MARK = 8
"""Letters of the mark of a secret that are shown; it does not tell the secret."""
LAYER_WORDS = {"required": "MISSING", "strong": "missing", "extra": "not used"}
QUICK_COOKIES = {(3, 11): 10, (3, 12): 6}
"""The patch levels from which on http.cookies reads quoted cookies in linear time; newer versions all do."""


def doctor() -> None:
    """Print every layer of the jail and attack it."""
    settings = environment.load_settings()
    typer.echo(_python(*sys.version_info[:3]))
    typer.echo(f"{'on':<9} work is kept in {settings.data_dir.absolute()}")
    for path in misplaced_databases(settings.data_dir):
        typer.echo(f"{'unused':<9} {path}: {adopt_misplaced(path, settings.data_dir)}")
    try:
        names = load_names(settings.names)
        typer.echo(f"{'on':<9} names: {len(names.names):,}, {names.source}")
    except NamesError as error:
        refuse(f"Training is refused: {error}", status=1)
    if (settings.data_dir / FILE).exists():
        require_secret(settings.data_dir)
        mark = seeds_in(settings.data_dir).mark[:MARK]
        typer.echo(
            f"{'on':<9} secret of hidden numbers: {mark}, which has to be the same on every server of a database"
        )
    for line in asyncio.run(_platform_lines(settings)):
        typer.echo(line)
    if not kernel.LINUX:
        refuse(f"Code is refused: {kernel.NEEDS_LINUX}", status=1)
    _attack(settings)


async def _platform_lines(settings: Settings) -> list[str]:
    """Result of a try of each registered learning platform; no database is made for that."""
    from app.cli.lti import try_platforms

    if not settings.database_url and not (settings.data_dir / DATABASE).exists():
        return []
    try:
        async with Database(settings.resolved_database_url) as database, database.read() as db:
            platforms = await list_platforms(db)
    except (SQLAlchemyError, OSError):  # of an older version, or away: the server says so when it starts
        return []
    tried = await try_platforms(settings, platforms) if platforms else {}
    return [
        f"{'on' if trial.good else 'missing':<9} platform {platform.id}, {platform.name}: {trial.said}"
        for platform in platforms
        for trial in tried[platform.id]
    ]


def _attack(settings: Settings) -> None:
    from app.sandbox.canaries import CANARIES, run_canaries  # only Linux has what they import
    from app.sandbox.runner import Jail

    jail = Jail(settings.require_landlock, settings.unsafe_no_sandbox, settings.cgroup)
    try:
        for layer in jail.facts:
            typer.echo(_line(layer))
        if jail.refusal:
            refuse(f"Code is refused: {jail.refusal}", status=1)
        if not all(layer.on for layer in jail.facts if layer.name == "seccomp"):
            refuse("Code runs WITHOUT the filter for system calls: BACKHAND_UNSAFE_NO_SANDBOX is set.", status=1)
        succeeded = run_canaries(jail)
        typer.echo(f"{len(CANARIES) - len(succeeded)} of {len(CANARIES)} test attacks were stopped.")
        if succeeded:
            refuse(f"Code is refused: these test attacks succeeded: {', '.join(succeeded)}.", status=1)
        typer.echo("Code runs in the jail.")
    finally:
        jail.close()


def _python(major: int, minor: int, patch: int) -> str:
    mended = QUICK_COOKIES.get((major, minor), 0)
    if patch >= mended:
        return f"{'on':<9} Python {major}.{minor}.{patch}"
    return (
        f"{'old':<9} Python {major}.{minor}.{patch}: its http.cookies needs quadratic time for a quoted cookie "
        f"(CVE-2024-7592; mended in {major}.{minor}.{mended}). Backhand lets no quoted cookie come so far."
    )


def _line(layer: "Layer") -> str:
    if layer.on:
        return f"{'on':<9} {layer.name}"
    reason = layer.reason if layer.reason.endswith((".", "?", "!")) else f"{layer.reason}."
    return f"{LAYER_WORDS[layer.weight]:<9} {layer.name}: {reason} {layer.remedy}".rstrip()
