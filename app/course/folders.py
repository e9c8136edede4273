"""The folders of a course: which of them are units, which of their files are lessons, and what is neither."""

import re
from collections.abc import Iterator
from pathlib import Path

from app.content.blocks import SourceLocation
from app.content.text.errors import LessonError

UNIT_FOLDER = re.compile(r"^(\d+)-([a-z0-9][a-z0-9-]*)$")
LESSON_NAME = re.compile(r"^(\d+)-([a-z0-9][a-z0-9-]*)\.md$")
NO_LESSONS = ("empty", "The unit holds no lessons.", "Add '01-lesson.md', or write one with backhand new.")
MARKDOWN = frozenset({".markdown", ".mdown", ".mkd", ".mdx"})


def markdown_in(folder: Path) -> list[Path]:
    """The lesson files of a unit, whatever they are called.

    Raises:
        OSError: The folder cannot be read.
    """
    files = (path for path in folder.iterdir() if path.suffix == ".md" and path.name != "unit.md")
    return sorted(path for path in files if not path.name.startswith((".", "_")))


def check_overlooked_files(folder: Path) -> Iterator[LessonError]:
    """A fault for what seems to be a lesson in the unit *folder*, and would not be read."""
    for path in sorted(folder.iterdir()):
        place = SourceLocation(path.as_posix())
        if path.name.startswith((".", "_")):
            continue
        if path.suffix.lower() in MARKDOWN or (path.suffix.lower() == ".md" and path.suffix != ".md"):
            yield LessonError(place, "file-name", "A lesson file ends in '.md', or it is not read.", "Rename it.")
        elif path.is_dir() and any(path.glob("*.md")):
            message = "Lessons in a folder below that of their unit are not read."
            yield LessonError(place, "folder-name", message, "Move them up.")


def unreadable_folder_error(folder: Path, error: OSError) -> LessonError:
    return LessonError(SourceLocation(folder.as_posix()), "unreadable", f"The folder cannot be read: {error.strerror}.")


def unit_folders(folder: Path, errors: list[LessonError]) -> list[Path]:
    folders = []
    numbers: dict[int, str] = {}
    for path in sorted(folder.iterdir()):
        match = UNIT_FOLDER.match(path.name)
        if not path.is_dir() or path.name.startswith((".", "_")):
            if LESSON_NAME.match(path.name):
                place = SourceLocation(path.as_posix())
                errors.append(LessonError(place, "no-unit", "A lesson stands in the folder of its unit.", "Move it."))
            continue
        if match is None and any(path.iterdir()) and not any(path.glob("*.md")):
            continue  # pictures, and what else a course brings along
        if match is None:
            fix = "Name it like '2-tensors': a number, then a-z, 0-9 and hyphens."
            errors.append(
                LessonError(SourceLocation(path.as_posix()), "folder-name", "This is no name for a unit.", fix)
            )
            continue
        errors += check_unique_number(int(match[1]), path, numbers, "unit")
        folders.append(path)
    return sorted(folders, key=lambda path: (int(path.name.partition("-")[0]), path.name))


def check_unique_number(number: int, path: Path, numbers: dict[int, str], what: str) -> list[LessonError]:
    """Two with the same number have no order."""
    other = numbers.setdefault(number, path.name)
    if other == path.name:
        return []
    message = f"The number {number} is already taken by the {what} {other!r}."
    return [LessonError(SourceLocation(path.as_posix()), "same-number", message, "Renumber one of them.")]
