"""`backhand preview`: one lesson as learners will see it, while it is written."""

import sys
from pathlib import Path

import typer

from app.cli import environment
from app.cli.course import refuse_installed
from app.cli.refuse import refuse
from app.cli.serve import serve_or_refuse
from app.course.folders import LESSON_NAME, UNIT_FOLDER
from app.settings import Settings


def preview(file: Path, port: int) -> None:
    """Serve the course around *file*, on this machine alone, until it is told to stop."""
    settings = around(file, environment.load_settings())
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    typer.echo(f"Open http://127.0.0.1:{port}/preview", err=True)
    command = (sys.executable, "-m", "app", "check", str(file), "--format", "json")
    serve_or_refuse(settings, "127.0.0.1", port, preview=(file, command))


def around(file: Path, settings: Settings) -> Settings:
    """*settings* for the course around *file*; what is answered there stays apart from what learners answer."""
    if not file.is_file():
        refuse(f"There is no file {file}. Write one with backhand new {file}.")
    refuse_installed(file)
    path = file.resolve()
    if not UNIT_FOLDER.match(path.parent.name) or not LESSON_NAME.match(path.name):
        refuse(f"{file} stands in no unit. Move it to a place such as lessons/2-tensors/11-my-lesson.md.")
    own_paths = {"lessons": path.parents[1], "data_dir": settings.data_dir / "preview"}
    return settings.model_copy(update={**own_paths, "database_url": "", "nats_url": "", "replicas": 1, "prefix": ""})
