"""`course.md` in the folder of a course: what holds for all of its lessons. It may be left out."""

from pathlib import Path

from app.content.blocks.places import SourceFile
from app.content.text.course_page import NO_PAGE, CoursePage
from app.content.text.errors import ErrorCollector, LessonError
from app.content.text.frontmatter import read_front_matter
from app.content.text.options import items_of
from app.content.text.tex import MACRO, balance_problem

COURSE_PAGE_FILE = "course.md"
KEYS = ("macros", "lang")
MAX_COURSE_PAGE_CHARS = 100_000


def course_page(folder: Path) -> tuple[CoursePage, tuple[LessonError, ...]]:
    """Parse the page of the course in *folder*; returns its errors, too."""
    path = folder / COURSE_PAGE_FILE
    faults = ErrorCollector(path.as_posix())
    if not path.is_file():
        return NO_PAGE, ()
    try:
        text = path.read_bytes()[:MAX_COURSE_PAGE_CHARS].decode("utf-8")
    except (OSError, UnicodeDecodeError):
        faults.add(faults.at(1), "unreadable", "The page of the course cannot be read.", "Save it as UTF-8.")
        return NO_PAGE, faults.found
    front = read_front_matter(SourceFile(faults.path, text.splitlines()), KEYS, faults)
    lang = front.options.language()
    macros: dict[str, str] = {}
    if "macros" in front.options:
        value = front.options.entries["macros"]
        for name, (entry, _) in (items_of(value, faults, "'macros'") or {}).items():
            macros[name] = entry.text
            if not MACRO.fullmatch(name):
                faults.add(
                    entry.place, "malformed-name", f"{name!r} cannot name a macro.", "Use letters, no backslash."
                )
            if problem := balance_problem(entry.text):
                faults.add(entry.place, "math", f"The macro has {problem}.")
    return CoursePage(macros, lang), faults.found
