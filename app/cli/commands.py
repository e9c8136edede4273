"""The commands as they are called: their arguments and their help.

What a command does is imported when it is called: `--help` and `--version` need neither database nor numpy.
"""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup
from typer.main import get_group

from app.installation import version as installed_version

HELP = """Interactive lessons on the backward pass: serve a course, prove it, grade a submission.

Without a command, the course is served to this machine at http://127.0.0.1:8000.
"""

app = typer.Typer(name="backhand", help=HELP, add_completion=False, pretty_exceptions_enable=False)


def group_of(*modules: str, about: str, name: str = "commands") -> typer.Typer:
    """The commands that *modules* have under *name*, as one group; its help says what they are *about*.

    They are loaded when one of them is called: `--help` needs none of what they import.
    """

    class LazyGroup(TyperGroup):
        def _load(self) -> None:
            for module in () if self.commands else modules:
                self.commands.update(get_group(getattr(import_module(module), name)).commands)

        def list_commands(self, ctx: Any) -> list[str]:
            self._load()
            return super().list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            self._load()
            return super().get_command(ctx, cmd_name)

    return typer.Typer(cls=LazyGroup, help=about, no_args_is_help=True)


app.add_typer(group_of("app.cli.classes", about="Classes: make, list, fill, assign, give out, end."), name="class")
app.add_typer(
    group_of("app.cli.classes", about="Who may make classes on this server.", name="instructors"), name="instructor"
)
app.add_typer(
    group_of("app.cli.people", about="Somebody who has lost the way in: find, take out, delete."), name="person"
)
app.add_typer(
    group_of("app.cli.lti", "app.cli.lti_courses", about="Learning platforms that open pages here (LTI 1.3)."),
    name="lti",
)


@app.callback(invoke_without_command=True, help=HELP)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        typer.echo(f"backhand {installed_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from app.cli import serve

        serve.serve_here()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    reload: Annotated[
        bool, typer.Option("--reload", help="For authors: take up changes at once, show drafts and faults.")
    ] = False,
) -> None:
    """Serve the course. Settings come from the environment (BACKHAND_LESSONS, BACKHAND_DATA_DIR, ...)."""
    from app.cli import serve

    serve.serve(host, port, reload=reload)


@app.command()
def reload(
    check: Annotated[
        bool, typer.Option("--check", help="Prove the course before; with errors, change nothing.")
    ] = False,
    wait: Annotated[float, typer.Option(help="For so many seconds, until the server has taken it up.", min=0)] = 60,
) -> None:
    """Have the running server read its course again; lessons with faults stay as they were."""
    from app.cli import reload

    reload.reload(proved=check, wait_seconds=wait)


@app.command()
def grader(
    nats: Annotated[str, typer.Option("--nats", help="The broker; default: BACKHAND_NATS_URL.")] = "",
    checks: Annotated[int, typer.Option(help="Slots that check.", min=0, max=64)] = 3,
    trains: Annotated[int, typer.Option(help="Slots that train.", min=0, max=64)] = 1,
) -> None:
    """Grade for servers on other machines: jailed graders that fetch questions from a NATS broker."""
    from app.cli import grader

    grader.grader(nats, checks, trains)


@app.command()
def jobs() -> None:
    """Do what is done once for several servers of one PostgreSQL: forget what is over, count answers."""
    from app.cli import jobs

    jobs.jobs()


@app.command()
def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Lesson files, unit or course folders; default: the course.")
    ] = None,
    form: Annotated[
        Literal["text", "json", "github"], typer.Option("--format", help="text, json or github (annotations).")
    ] = "text",
    mutants: Annotated[bool, typer.Option(help="Try every single-edit mutant of every solution.")] = True,
    fresh: Annotated[bool, typer.Option("--fresh", help="Prove again what has not changed.")] = False,
) -> None:
    """Parse, derive, run: every solution must pass, everything wrong must be refused with its message."""
    from app.cli import check

    check.check(paths, form, mutants=mutants, fresh=fresh)


@app.command()
def items(
    lesson: Annotated[str, typer.Argument(help="Id of a lesson, or the name of its file; default: all.")] = "",
    group: Annotated[int, typer.Option("--class", help="Of this class alone; `backhand class list` tells it.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with every number.")] = False,
) -> None:
    """Print what answers tell about exercises: those that need their author come first, with file and line."""
    from app.cli import items

    items.items(lesson, group, as_json=as_json)


@app.command()
def course(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write, such as my-course.")],
) -> None:
    """Copy the course that is shipped into a folder, for authors to change."""
    from app.cli import course

    course.course(target)


@app.command()
def preview(
    file: Annotated[Path, typer.Argument(help="A lesson file in its unit, such as lessons/2-tensors/11-dropout.md.")],
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8001,
) -> None:
    """Show a lesson while it is written: its page changes with the file, beside what `check` says of it."""
    from app.cli import preview

    preview.preview(file, port)


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The file to write, such as lessons/2-tensors/11-dropout.md.")],
    title: Annotated[str, typer.Option(help="Title of the lesson; default: made from the file name.")] = "",
) -> None:
    """Write a lesson that passes `backhand check`, to be changed into your own."""
    from app.cli import new

    new.new(path, title)


@app.command()
def grade(
    exercise: Annotated[str, typer.Argument(help="FILE.md#EXERCISE", metavar="FILE.md#EXERCISE")],
    code: Annotated[
        Path | None, typer.Argument(help="Python file with the submission; - reads standard input.")
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help='Read JSON lines {"id", "code"} from standard input.')] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_gate: Annotated[bool, typer.Option("--no-gate", help="Skip the courtesy gate, to test the jail alone.")] = False,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same hidden numbers.", min=0)] = None,
) -> None:
    """Grade a submission against an exercise of a lesson file anywhere on disk.

    In a bug hunt the line is named in a last comment of the submission: `# wrong line: 4`. Hidden numbers are drawn
    under the secret in BACKHAND_DATA_DIR, or under a fresh one where there is none.
    """
    from app.cli import grade

    grade.grade(exercise, code, batch=batch, as_json=as_json, gate=not no_gate, seed=seed)


practice = typer.Typer(name="practice", help="Exercises that are drawn.", no_args_is_help=True)
app.add_typer(practice)
Level = Annotated[int, typer.Option(help="1: two or three lines; 2: with a fork; 3: long.", min=1, max=3)]
Wanted = Annotated[str, typer.Option(help="A slip that the exercise can show, such as mean; default: any.")]


@practice.command()
def draw(
    level: Level = 2,
    wanted: Wanted = "",
    within: Annotated[str, typer.Option(help="Operations that it may use, such as 'matmul bias'; default: all.")] = "",
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same exercise.", min=0)] = None,
) -> None:
    """Print an exercise that was proved, as a piece of a lesson: a program and a box with hints and solution."""
    from app.cli import practice

    practice.draw(level, wanted, within.split(), seed)


@practice.command()
def prove(
    level: Level = 2,
    wanted: Wanted = "",
    count: Annotated[int, typer.Option(help="How many are drawn.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="The first seed.", min=0)] = 0,
) -> None:
    """Prove exercises, and print how many are kept and what is said of their mutants."""
    from app.cli import practice

    practice.prove(level, wanted, count, seed)


@practice.command()
def points(
    write: Annotated[bool, typer.Option("--write", help="Give the exercises that are kept their new points.")] = False,
) -> None:
    """Print how hard operations turned out to be, of those that learners tried 200 times."""
    from app.cli import practice

    practice.points(write=write)


@app.command()
def export(
    path: Annotated[Path | None, typer.Argument(help="A lesson file or a folder of them; default: the course.")] = None,
    form: Annotated[Literal["ipynb", "py", "md"], typer.Option("--format", help="ipynb, py or md.")] = "ipynb",
    to: Annotated[Path, typer.Option("--to", help="Folder to write into.")] = Path(),
    solutions: Annotated[bool, typer.Option("--solutions", help="With solutions, answers and all hints.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write each lesson as a file that runs without the app, with blanks in its boxes."""
    from app.cli import export

    export.export(path, form, to, solutions=solutions, force=force)


@app.command()
def doctor() -> None:
    """Print every layer of the jail and attack it; exit non-zero when code or training would be refused."""
    from app.cli import doctor

    doctor.doctor()


@app.command()
def backup(target: Annotated[Path, typer.Argument(help="The file to write, such as monday.backup.")]) -> None:
    """Copy the whole database to a file, at one moment, while the server goes on."""
    from app.cli import backup

    backup.backup(target)


@app.command()
def restore(
    source: Annotated[
        Path, typer.Argument(help="A file that `backhand backup` wrote, by this version or an older one.")
    ],
    replace: Annotated[bool, typer.Option("--replace", help="Give up the learners that the database holds.")] = False,
) -> None:
    """Put a backup in the place of the database, and bring it to this version's schema. Stop the server before."""
    from app.cli import backup

    backup.restore(source, replace=replace)
