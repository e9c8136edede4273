"""The `backhand` command: one module per subcommand, nothing but reading arguments and printing answers."""

import importlib.metadata
import sys
from typing import Annotated

import structlog
import typer
from pydantic import ValidationError

from app.cli import check, doctor, export, grade, new, serve

app = typer.Typer(
    name="backhand",
    help="Interactive lessons on the backward pass: serve a course, prove it, grade a submission.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.command("check")(check.check)
app.command("new")(new.new)
app.command("grade")(grade.grade)
app.command("export")(export.export)
app.command("doctor")(doctor.doctor)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False) -> None:
    """Interactive lessons on the backward pass: serve a course, prove it, grade a submission."""
    if version:
        typer.echo(f"backhand {importlib.metadata.version('backhand')}")
        raise typer.Exit


def main() -> None:
    """Entry point of the installed command."""
    # Standard output belongs to answers: a batch is read by programs, line by line.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        app()
    except ValidationError as error:
        if error.title != "Settings":
            raise
        for one in error.errors():
            name = "".join(str(part) for part in one["loc"]).upper()
            typer.echo(f"BACKHAND_{name} is {one['input']!r}. {one['msg']}.", err=True)
        sys.exit(2)
