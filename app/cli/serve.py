"""`backhand serve`: the web server with its graders, until it is told to stop."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from app.cli import environment
from app.cli.refuse import refuse
from app.content.text.errors import LessonErrors
from app.settings import Settings
from app.web.server import ServeError
from app.web.server import serve as serve_web

LOCAL = ("127.0.0.1", 8000)


def serve_here() -> None:
    """Serve to this machine, and say where the page is, where work is kept, and how to stop."""
    settings = environment.load_settings()

    def announce(url: str) -> None:
        place = settings.database_url and "the database of BACKHAND_DATABASE_URL"
        typer.echo(f"Open {url}")
        typer.echo(f"Work is kept in {place or settings.data_dir.absolute()}")
        typer.echo("Press Ctrl-C to stop.")

    serve_or_refuse(settings, *LOCAL, announce=announce)


def serve(host: str, port: int, *, reload: bool) -> None:
    settings = environment.load_settings()
    if settings.unsafe_no_sandbox and host not in ("127.0.0.1", "::1", "localhost"):
        refuse(
            f"BACKHAND_UNSAFE_NO_SANDBOX is set and the host is {host}: code without a sandbox is served on "
            "127.0.0.1 only. Unset it, or leave out --host."
        )
    serve_or_refuse(settings, host, port, reload=reload)


def serve_or_refuse(
    settings: Settings,
    host: str,
    port: int,
    *,
    reload: bool = False,
    preview: tuple[Path, Sequence[str]] | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve, and say what is in the way of it."""
    try:
        serve_web(settings, host, port, reload=reload, preview=preview, announce=announce)
    except LessonErrors as errors:
        typer.echo(str(errors), err=True)
        count = len(errors.errors)
        faults = f"{count} fault{'s' if count > 1 else ''}"
        refuse(f"{faults} in {settings.lessons}; mend what is named, then serve again.", status=1)
    except ServeError as error:
        refuse(str(error), status=1)
