"""`backhand reload`: have a running server read its course again."""

import sys

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.content.course import read_course
from app.web.course_reload import ask_to_reload


def reload() -> None:
    """Tell what is wrong with the course, and ask the server to take up the rest."""
    settings = environment.settings()
    _, errors = read_course(settings.lessons)
    for error in errors:
        typer.echo(str(error))
    try:
        number = ask_to_reload(settings.data_dir)
    except (ProcessLookupError, OSError) as error:
        refuse(f"{error}. Start one with backhand serve, or send SIGHUP to a server of another user.", status=1)
    kept = "; lessons with faults stay as they were" if errors else ""
    typer.echo(f"The server (process {number}) reads {settings.lessons} again{kept}.")
    sys.exit(1 if errors else 0)
