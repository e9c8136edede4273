"""`backhand person …`: help of an operator for learners who cannot sign in."""

from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import people, recovery
from app.accounts.data_export import delete_learner, list_learner_rows, zip_archive
from app.accounts.people import PersonRecord
from app.cli import environment
from app.cli.transactions import AsJson, Facts, Printed, in_transaction, print_facts, run_transaction
from app.store.classes import RefusedError
from app.store.event_bus import EventBus
from app.store.former_members import graded_classes
from app.web.middleware.visitor import tell_servers

Who = Annotated[str, typer.Argument(help="A name, an id at the school, an address, or a number such as '#12'.")]
InClass = Annotated[int | None, typer.Option("--class", help="Only who is, or was, in this class.", min=1)]
commands = typer.Typer()


@commands.command()
@in_transaction
async def find(db: AsyncSession, who: Who, group: InClass = None) -> Printed:
    """Print all people who fit, with their classes, ways to sign in and how much they wrote."""
    records = await people.find_people(db, who, group)
    return {"people": list(map(_facts, records))}, list(map(str, records)) or [f"Nobody here fits {who!r}."]


@commands.command()
@in_transaction
async def takeout(
    db: AsyncSession,
    who: Who,
    target: Annotated[Path, typer.Argument(help="The archive to write, such as bob.zip.")],
    group: InClass = None,
) -> Printed:
    """Write everything that is kept of one person to an archive, as *Take everything away* does."""
    if target.exists():
        raise RefusedError(f"{target} is there already. Name a file that is not.")
    person = await people.find_person(db, who, group)
    content = zip_archive(await list_learner_rows(db, person.learner))
    try:
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise RefusedError(f"{target} cannot be written: {error.strerror}.") from error
    return _facts(person) | {"file": str(target)}, [str(person), f"Everything of them is in {target}."]


@commands.command()
def delete(
    who: Who,
    group: InClass = None,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    with_grades: Annotated[bool, typer.Option("--with-grades", help="Their points in gradebooks too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete everything of one person. What graded classes keep of them, name, id and points, stays."""

    async def look(db: AsyncSession) -> tuple[PersonRecord, list[str]]:
        person = await people.find_person(db, who, group)
        return person, [class_member.group.name for class_member in await graded_classes(db, person.learner)]

    person, graded = run_transaction(look)
    if not sure:
        typer.echo(str(person), err=True)
        typer.confirm("Delete everything of them? Nobody can bring it back", abort=True, err=True)

    settings = environment.load_settings()

    async def work(db: AsyncSession) -> Facts:
        await delete_learner(db, person.learner, by_operator=True, with_grades=with_grades)
        await tell_servers(db, EventBus(settings.resolved_database_url), settings.data_dir)
        return _facts(person) | {"grades_stay_in": [] if with_grades else graded}

    gone = run_transaction(work)
    lines = [f"Deleted: {person}"]
    if gone["grades_stay_in"]:
        lines.append(f"Name, id and points stay in the gradebook of {', '.join(graded)}, but with --with-grades.")
    print_facts(gone, lines, as_json=as_json)


@commands.command()
@in_transaction
async def reset(db: AsyncSession, who: Who, group: InClass = None) -> Printed:
    """Print a link with which an account that has a password and nothing else gets a new one; its learner is told."""
    person = await people.find_person(db, who, group)
    token = await recovery.reset_link(db, learner=person.learner, by=None)
    link = f"{environment.load_settings().base_url}/sign-in/reset?token={token}"
    return _facts(person) | {"link": link}, [f"With {link} {who} sets a new password: once, within a day."]


def _facts(person: PersonRecord) -> Facts:
    return {
        "learner": person.learner,
        "name": person.name,
        "classes": person.classes,
        "ways": person.subjects,
        "seen_at": person.seen_at,
        "attempts": person.holds.attempts,
        "texts": person.holds.texts,
    }
