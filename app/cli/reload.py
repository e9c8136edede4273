"""`backhand reload`: have a running server read its course again."""

import signal
import sys

import typer

from app.cli import environment
from app.cli.check import check
from app.cli.lost_lessons import lost_lessons
from app.cli.refuse import refuse
from app.course.course import read_course
from app.web.course_reload import ask_to_reload, await_reload, last_reload

NOT_YET = "The server (process {number}) was asked and has not taken it up within {seconds} s. Its log says why."


def reload(*, proved: bool, wait_seconds: float) -> None:
    """Tell what is wrong with the course, ask the server to take up the rest, and wait until it has.

    Args:
        proved: Prove the course before, and leave the server as it is where something is wrong.
    """
    settings = environment.load_settings()
    if not hasattr(signal, "SIGHUP"):
        refuse("No server can be asked on Windows. Start it as backhand serve --reload: it takes up changes itself.")
    if proved:
        _prove()
    course, errors = read_course(settings.lessons)
    lost = lost_lessons(settings, course) if course else []
    for error in (*errors, *lost):
        typer.echo(str(error))
    try:
        before = last_reload(settings.data_dir)
        number = ask_to_reload(settings.data_dir)
    except (ProcessLookupError, OSError) as error:
        refuse(f"{error}. Start one with backhand serve, or send SIGHUP to a server of another user.", status=1)
    if not await_reload(settings.data_dir, before, wait_seconds):
        refuse(NOT_YET.format(number=number, seconds=f"{wait_seconds:g}"), status=1)
    note = "; lessons with faults stay as they were" if errors else ""
    typer.echo(f"The server (process {number}) has read {settings.lessons} again{note}.")
    sys.exit(1 if errors or lost else 0)


def _prove() -> None:
    try:
        check(None, "text", mutants=False, fresh=False)
    except SystemExit as ended:
        if ended.code:
            refuse("The server was left as it is.", status=1)
