"""`backhand new`: a lesson file to start from, which passes `check` as it is written."""

import json
import re
from pathlib import Path

import typer
import yaml

from app.cli.course import refuse_installed
from app.cli.refuse import refuse
from app.course.course import text_of
from app.course.folders import LESSON_NAME, UNIT_FOLDER, markdown_in, unit_folders
from app.course.parse import parse_outline
from app.installation import TEMPLATES

TEMPLATE = TEMPLATES / "new_lesson.md"


def new(path: Path, title: str) -> None:
    """Write the lesson, and the page of its unit where there is none."""
    refuse_installed(path)
    if path.suffix != ".md":
        refuse(f"{path} does not end in .md. Lessons are markdown files.")
    words = re.sub(r"^\d+-", "", path.stem)
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    if not name or not name[0].isalpha():
        refuse(f"{path.name} gives no id. Name the file like 05-dropout.md: a number, then words of letters a to z.")
    if reason := _path_fault(path):
        refuse(f"{reason} Nothing was written.")
    if any(sign in title for sign in "\r\n"):
        refuse("A title is one line.")
    title = _yaml_text(title or words.replace("-", " ").capitalize())
    text = TEMPLATE.read_text("utf-8").replace("@@name@@", name).replace("@@title@@", title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # "x": never overwrite what an author has written.
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        there = f"{path} exists already" if path.parent.is_dir() else f"{path.parent} is a file and no folder"
        refuse(f"{there}; nothing was written.")
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}.")
    try:
        _write_unit(path.parent)
    except OSError as error:
        refuse(f"{path.parent / 'unit.md'} cannot be written: {error.strerror}.")
    typer.echo(f"{path} written. Next: edit it, then backhand check {path}")


def _path_fault(path: Path) -> str:
    """Say why a course with a lesson there could not be read; empty if it could."""
    if not UNIT_FOLDER.match(path.parent.resolve().name):
        return f"{path} stands in no unit. Give the folder of one as well, such as 2-tensors/{path.name}."
    lesson_match = LESSON_NAME.match(path.name)
    if lesson_match is None:
        return f"{path.name} is no name for a lesson. Name it like 05-dropout.md: a number, then a-z, 0-9 and hyphens."
    there = markdown_in(path.parent) if path.parent.is_dir() else []
    taken = {int(match[1]): match.string for match in map(LESSON_NAME.match, (file.name for file in there)) if match}
    other = taken.get(int(lesson_match[1]), path.name)
    if other != path.name:
        return f"The number {int(lesson_match[1])} is taken by {other}; {max(taken) + 1:02} is free."
    return _taken_elsewhere(path.resolve(), lesson_match[2])


def _taken_elsewhere(path: Path, name: str) -> str:
    """Which unit has the same number, or which other lesson the same address or id; empty where none has."""
    root = path.parents[1]
    units = unit_folders(root, []) if root.is_dir() else []
    numbers = {int(unit.name.partition("-")[0]): unit.name for unit in units}
    number = int(path.parent.name.partition("-")[0])
    if numbers.get(number, path.parent.name) != path.parent.name:
        return f"The unit {numbers[number]} has the number {number} already; {max(numbers) + 1} is free."
    for file in (file for unit in units for file in markdown_in(unit)):
        text, _ = text_of(file, "")
        other = parse_outline(text or "", file.relative_to(root).as_posix())
        if file != path and name in (other.slug, other.name):
            return f"{other.path} is called {name!r} already. Choose another name."
    return ""


def _write_unit(folder: Path) -> None:
    """A unit needs a page with its title: a new folder such as 6-beyond gets one."""
    page = folder / "unit.md"
    words = re.fullmatch(r"\d+-(.+)", folder.resolve().name)
    if words and not page.exists():
        title = words[1].replace("-", " ").capitalize()
        page.write_text(f"---\ntitle: {_yaml_text(title)}\n---\n\nSay what this unit is about.\n", encoding="utf-8")
        typer.echo(f"{page} written: the title of the unit and what it is about.")


def _yaml_text(title: str) -> str:
    # A JSON string is a YAML string: titles with colons, quotes or the word No stay text.
    try:
        plain = yaml.safe_load(title) == title
    except yaml.YAMLError:
        plain = False
    return title if plain else json.dumps(title, ensure_ascii=False)
