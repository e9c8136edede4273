"""`backhand instructor …`: who may make classes on this server."""

from typing import Annotated

import typer
from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.cli.transactions import Printed, in_transaction
from app.store import invitations
from app.store.classes import RefusedError
from app.store.tables import Credential, Learner
from app.teaching.codes import shown_code
from app.teaching.text_input import one_line

commands = typer.Typer()


@commands.command()
@in_transaction
async def add(
    db: AsyncSession,
    name: Annotated[str, typer.Argument(help="Of somebody with an account here; default: print a word.")] = "",
) -> Printed:
    """Let an account make classes, by its name; or print an invitation code that works once."""
    if not name:
        word = shown_code(await invitations.teacher_word(db))
        return {"word": word}, [f"Whoever opens /join/{word} first may make classes."]
    has_account = exists().where(Credential.learner_id == Learner.id)
    accounts = (await db.scalars(select(Learner.id).where(Learner.name == one_line(name), has_account))).all()
    if len(accounts) != 1:
        how_many = f"{len(accounts)} accounts are" if accounts else "No account is"
        raise RefusedError(f"{how_many} called {name}. Leave the name out: a word is printed that works once.")
    await invitations.let_teach(db, accounts[0])
    return {"learner": accounts[0], "name": name}, [f"{name} may make classes."]
