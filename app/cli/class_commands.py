"""`backhand class …` and `backhand instructor …` as they are called: their arguments and their help."""

from pathlib import Path
from typing import Annotated

import typer

classes = typer.Typer(help="Classes: make, list, fill, assign, give out, end.", no_args_is_help=True)
instructors = typer.Typer(help="Who may make classes on this server.", no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="The number of the class; `backhand class list` tells it.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@classes.command()
def create(
    name: Annotated[str, typer.Argument(help="What the class is called.")],
    timezone: Annotated[str, typer.Option(help="In which its dates are meant.")] = "UTC",
    instructor: Annotated[str, typer.Option(help="Who looks after it; they get a word that works once.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a class; print its code, and a word for its instructor."""
    from app.cli import classes

    classes.create(name, timezone, instructor, as_json=as_json)


@classes.command("list")
def list_(as_json: AsJson = False) -> None:
    """Print every class with its code and how many are in it."""
    from app.cli import classes

    classes.list_(as_json=as_json)


@classes.command()
def roster(
    number: Number,
    file: Annotated[Path | None, typer.Argument(help="CSV to lay over the roster; - reads standard input.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the roster, or import a list: names, ids, labels. No one is removed."""
    from app.cli import classes

    classes.roster(number, file, dry_run=dry_run, as_json=as_json)


@classes.command()
def assign(
    number: Number,
    lesson: Annotated[str, typer.Argument(help="The id of a lesson, or practice such as practice/set-matmul.")],
    opens: Annotated[str, typer.Option(help="2026-11-30 08:00, in the time zone of the class.")] = "",
    due: Annotated[str, typer.Option(help="When it is due.")] = "",
    late_until: Annotated[str, typer.Option(help="Until when it counts in part.")] = "",
    late_share: Annotated[float, typer.Option(help="Which part that is.")] = 0.5,
    points: Annotated[float | None, typer.Option(help="Default: one for each exercise.")] = None,
    solutions: Annotated[str, typer.Option(help="Until when solutions stay closed.")] = "",
    exercises: Annotated[str, typer.Option(help="Those that count, with commas between; default: all.")] = "",
    heading: Annotated[str, typer.Option(help="Its name in the gradebook; default: that of the lesson.")] = "",
    anyway: Annotated[bool, typer.Option("--anyway", help="Do not ask about what looks like a slip.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assign a lesson, or some of its exercises. Asks about a past date, and about what is assigned already."""
    from app.cli import classes

    dates = {"opens_at": opens, "due_at": due, "late_until": late_until, "solutions_at": solutions}
    classes.assign(
        number, lesson, dates, late_share, points, exercises, heading=heading, anyway=anyway, as_json=as_json
    )


@classes.command()
def export(number: Number, as_json: AsJson = False) -> None:
    """Print the gradebook as CSV, or as JSON."""
    from app.cli import classes

    classes.export(number, as_json=as_json)


@classes.command()
def archive(
    number: Number,
    back: Annotated[bool, typer.Option("--back", help="The class goes on again.")] = False,
    as_json: AsJson = False,
) -> None:
    """End a class: no one can join it, and nothing is due in it. Nothing is deleted."""
    from app.cli import classes

    classes.archive(number, over=not back, as_json=as_json)


@classes.command()
def keep(
    number: Number,
    until: Annotated[str, typer.Argument(help="A day such as 2027-03-31, or `ever`.")],
    as_json: AsJson = False,
) -> None:
    """Keep a class until a day, a week away at least; then it is forgotten. Learners keep what they wrote."""
    from app.cli import classes

    classes.keep(number, until, as_json=as_json)


@classes.command()
def give(
    number: Number,
    unit: Annotated[str, typer.Argument(help="The folder of a private unit; default: print what was given.")] = "",
    back: Annotated[bool, typer.Option("--back", help="Take it back; what is assigned stays.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the instructors of a class see a private unit and assign its lessons. Learners see nothing by that."""
    from app.cli import classes

    classes.give(number, unit, back=back, as_json=as_json)


@classes.command()
def delete(
    number: Number,
    name: Annotated[str, typer.Option(prompt="Name of the class", help="Its name, so that it is the right one.")],
    as_json: AsJson = False,
) -> None:
    """Delete a class now, with its roster, assignments and grades. Learners keep what they wrote."""
    from app.cli import classes

    classes.delete(number, name, as_json=as_json)


@instructors.command()
def add(
    name: Annotated[str, typer.Argument(help="Of somebody with an account here; default: print a word.")] = "",
    as_json: AsJson = False,
) -> None:
    """Let an account make classes, by its name; or print an invitation code that works once."""
    from app.cli import classes

    classes.add_instructor(name, as_json=as_json)
