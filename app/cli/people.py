"""`backhand person …`: help of an operator for learners who cannot sign in."""

from pathlib import Path

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import people, recovery
from app.accounts.data_export import delete_learner, list_learner_rows, zip_archive
from app.accounts.people import PersonRecord
from app.cli import environment
from app.cli.classes import Facts, print_facts, run_transaction
from app.cli.refuse import refuse
from app.store.event_bus import EventBus
from app.store.former_members import graded_classes
from app.web.middleware.visitor import tell_servers


def find(typed: str, group: int | None, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> list[PersonRecord]:
        return await people.find_people(db, typed, group)

    listed = run_transaction(work)
    facts = {"people": [_facts(person_record) for person_record in listed]}
    print_facts(
        facts, [str(person_record) for person_record in listed] or [f"Nobody here fits {typed!r}."], as_json=as_json
    )


def takeout(typed: str, target: Path, group: int | None, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> tuple[PersonRecord, bytes]:
        person = await people.find_person(db, typed, group)
        return person, zip_archive(await list_learner_rows(db, person.learner))

    if target.exists():
        refuse(f"{target} is there already. Name a file that is not.")
    person, content = run_transaction(work)
    try:
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        refuse(f"{target} cannot be written: {error.strerror}.")
    print_facts(
        _facts(person) | {"file": str(target)}, [str(person), f"Everything of them is in {target}."], as_json=as_json
    )


def delete(typed: str, group: int | None, *, sure: bool, with_grades: bool, as_json: bool) -> None:
    async def look(db: AsyncSession) -> tuple[PersonRecord, list[str]]:
        person = await people.find_person(db, typed, group)
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


def reset(typed: str, group: int | None, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> Facts:
        person = await people.find_person(db, typed, group)
        token = await recovery.reset_link(db, learner=person.learner, by=None)
        return _facts(person) | {"link": f"{environment.load_settings().base_url}/sign-in/reset?token={token}"}

    result = run_transaction(work)
    print_facts(result, [f"With {result['link']} {typed} sets a new password: once, within a day."], as_json=as_json)


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
