"""Commands that work in one transaction of the database, and what they print: lines for people, or facts as JSON."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Annotated, Any, TypeVar, cast

import typer
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cli import environment
from app.cli.refuse import refuse
from app.store import database_errors
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.migrate import migrate

Facts = dict[str, Any]
Printed = tuple[Facts, Sequence[str]]
"""Facts of a command, and the lines that tell them to people."""
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
T = TypeVar("T")


def in_transaction(work: Callable[..., Awaitable[Printed]]) -> Callable[..., None]:
    """Make a command of *work*, which is given a session in a transaction: with its other parameters, and `--json`."""

    @wraps(work)
    def command(*, as_json: bool, **options: Any) -> None:
        facts, lines = run_transaction(lambda db: work(db, **options))
        print_facts(facts, lines, as_json=as_json)

    _, *parameters = inspect.signature(work).parameters.values()
    as_json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    cast(Any, command).__signature__ = inspect.Signature([*parameters, as_json])  # what the command line is made from
    return command


def run_transaction(work: Callable[[AsyncSession], Awaitable[T]]) -> T:
    """Run *work* in one transaction and return its result; ends the command with a sentence if it fails."""
    url = environment.load_settings().resolved_database_url

    async def run() -> T:
        await migrate(url)
        async with Database(url) as database, database.write() as db:
            return await work(db)

    try:
        return asyncio.run(run())
    except (RefusedError, ValueError) as error:
        refuse(str(error))
    except (SQLAlchemyError, OSError) as error:
        refuse(f"The database cannot be used: {database_errors.unusable_reason(url, error)}")


def print_facts(facts: Facts, lines: Sequence[str], *, as_json: bool) -> None:
    typer.echo(json.dumps(facts, default=str, ensure_ascii=False) if as_json else "\n".join(lines))
