"""`backhand export`: lessons as notebooks, scripts or texts to take away."""

from pathlib import Path

import typer

from app.cli import environment
from app.cli.refuse import A_COURSE, refuse, refuse_unreadable
from app.content.blocks import Lesson
from app.course.export import Work, cells_of, written_as
from app.course.lessons import read_lessons
from app.kinds.registry import right_answers
from app.web.pictures.alone import drawings_of, files_of
from app.web.routes.downloads import names_for


def export(path: Path | None, form: str, to: Path, *, solutions: bool, force: bool) -> None:
    """Write each lesson into *to*."""
    for name, lesson in _lessons(path or environment.load_settings(private=False).lessons):
        work = Work(
            codes=_solutions(lesson) if solutions else {},
            right=right_answers(lesson),
            solved=None if solutions else (),
            hints=None if solutions else {},
            drawings=drawings_of(lesson),
            pictures=files_of(lesson, Path(lesson.place.path).parents[1]),
            names=names_for(lesson),
        )
        target = to / Path(name).with_suffix(f".{form}")
        if target.exists() and not force:
            refuse(f"{target} is there already, perhaps with somebody's work in it. Give --force to overwrite it.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(written_as(form, cells_of(lesson, work)), encoding="utf-8")
        except OSError as error:
            refuse(f"{target} cannot be written: {error.strerror}.")
        typer.echo(target)


def _lessons(path: Path) -> list[tuple[str, Lesson]]:
    """The lessons at *path*, each with the name of its file relative to the folder that was asked for."""
    try:
        lessons, errors = read_lessons(path)
    except OSError as error:
        refuse_unreadable(path, error, A_COURSE)
    if errors:
        refuse("\n".join(str(item) for item in errors))
    # The lessons of a course have their paths from there.
    course = path.is_dir() and not (path / "unit.md").exists()
    return [(lesson.path if course else Path(lesson.path).name, lesson) for lesson in lessons]


def _solutions(lesson: Lesson) -> dict[str, str]:
    return {box.name: box.solution.source for box in lesson.boxes}
