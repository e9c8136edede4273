"""`backhand course`: a copy of the course that is shipped, for authors to change."""

import os
import shutil
from pathlib import Path

import typer

from app.cli.refuse import refuse
from app.installation import ROOT, is_installed_course

LESSONS = ROOT / "lessons"
COPY_IT = "It belongs to the installed package, and an update replaces it. Copy it out first: backhand course DIR."


def course(target: Path) -> None:
    """Copy the course into *target*, a folder that is new or empty."""
    if is_installed_course(target):
        refuse(f"{target} belongs to the installed package. Choose a folder of your own.")
    files = sorted(file for file in LESSONS.rglob("*") if file.is_file())
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            refuse(f"{target} is not empty, and nothing was written. Choose a folder that is new or empty.")
        for file in files:
            copy = target / file.relative_to(LESSONS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)  # without its mode: a package may be installed read-only
    except OSError as error:
        refuse(f"{error.filename or target} cannot be written: {error.strerror}.")
    lessons = sum(file.parent != LESSONS and file.name != "unit.md" for file in files if file.suffix == ".md")
    typer.echo(f"{lessons} lessons were copied to {target}. Next: edit them, then")
    typer.echo(f"  backhand check {target}")
    setting, mark = ("$env:BACKHAND_LESSONS=", ";") if os.name == "nt" else ("BACKHAND_LESSONS=", "")
    typer.echo(f"  {setting}{target}{mark} backhand")


def refuse_installed(path: Path) -> None:
    """End where *path* would be edited in the installed course."""
    if is_installed_course(path):
        refuse(f"{path} cannot be edited in place. {COPY_IT}")
