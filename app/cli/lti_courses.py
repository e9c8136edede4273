"""`backhand lti courses` and `course`: which class a course of a platform leads to."""

from typing import Annotated

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from app.cli.classes import find_class
from app.cli.lti import Number
from app.cli.transactions import Printed, in_transaction
from app.lti.claims import parse_id
from app.lti.courses import list_courses, set_class
from app.store import lti_platforms
from app.store.classes import RefusedError

NO_COURSE = "No course has a class yet: the first launch by an instructor makes one."
commands = typer.Typer()


@commands.command()
@in_transaction
async def courses(db: AsyncSession) -> Printed:
    """Print every course that has a class."""
    listed = [
        {
            "platform": context.platform_id,
            "id": context.context_id,
            "title": context.title,
            "class": group.id,
            "class_name": group.name,
        }
        for context, group in await list_courses(db)
    ]
    lines = [
        f"platform {row['platform']}  course {row['id']}  {row['title'] or '-'}  "
        f"class {row['class']}  {row['class_name']}"
        for row in listed
    ]
    return {"courses": listed}, lines or [NO_COURSE]


@commands.command()
@in_transaction
async def course(
    db: AsyncSession,
    number: Number,
    id_: Annotated[
        str, typer.Argument(metavar="COURSE", help="What the platform calls the course; `backhand lti courses`.")
    ],
    group: Annotated[int, typer.Option("--class", help="The number of the class; `backhand class list`.", min=1)],
) -> Printed:
    """Let a course lead to a class that is there: beside another course, or again after `remove`."""
    if parse_id(id_) is None:
        raise RefusedError(f"{id_[:80]!r} is no id of a course. `backhand lti courses` has those that were seen.")
    platform, led_to = await lti_platforms.get_platform(db, number), await find_class(db, group)
    before = await set_class(db, platform, id_, led_to)
    facts = {"platform": number, "id": id_, "class": led_to.id, "class_name": led_to.name, "before": before}
    lines = [f"The course {id_} of {platform.name} leads to class {led_to.id}, {led_to.name}."]
    if before is not None:
        lines.append(f"What is in class {before}, where it led before, stays there.")
    return {**facts, "platform_name": platform.name}, lines
