"""`backhand person …` as it is called: its arguments and its help."""

from pathlib import Path
from typing import Annotated

import typer

people = typer.Typer(help="Somebody who has lost the way in: find, take out, delete.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(help="A name, an id at the school, an address, or a number such as '#12'.")]
InClass = Annotated[int | None, typer.Option("--class", help="Only who is, or was, in this class.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@people.command()
def find(who: Who, group: InClass = None, as_json: AsJson = False) -> None:
    """Print all people who fit, with their classes, ways to sign in and how much they wrote."""
    from app.cli import people

    people.find(who, group, as_json=as_json)


@people.command()
def takeout(
    who: Who,
    target: Annotated[Path, typer.Argument(help="The archive to write, such as bob.zip.")],
    group: InClass = None,
    as_json: AsJson = False,
) -> None:
    """Write everything that is kept of one person to an archive, as *Take everything away* does."""
    from app.cli import people

    people.takeout(who, target, group, as_json=as_json)


@people.command()
def delete(
    who: Who,
    group: InClass = None,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    with_grades: Annotated[bool, typer.Option("--with-grades", help="Their points in gradebooks too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete everything of one person. What graded classes keep of them, name, id and points, stays."""
    from app.cli import people

    people.delete(who, group, sure=sure, with_grades=with_grades, as_json=as_json)


@people.command()
def reset(who: Who, group: InClass = None, as_json: AsJson = False) -> None:
    """Print a link with which an account that has a password and nothing else gets a new one; its learner is told."""
    from app.cli import people

    people.reset(who, group, as_json=as_json)
