"""Lessons that were proved whole, by a digest of all that their proof depends on in lessons.

`make prove` proves every lesson and writes the file anew. `make test` proves what is not in it, and as many more as one
of *TURNS*: which, the sources that judge decide, so that a change of a judge meets other lessons than the last one.
"""

import fcntl
import json
import tomllib
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from app.check.findings_cache import edition, lesson_texts, lessons_used
from app.content.blocks import Lesson

FILE = Path(__file__).parent / "proved.toml"
HEAD = "# Lessons that were proved, by a digest of their text and of what they use: `make prove` writes this.\n"
TURNS = 12


def digest(lesson: Lesson, course: Iterable[Lesson]) -> str:
    texts = lesson_texts(lesson, lessons_used(lesson, course))
    return sha256(json.dumps(texts).encode()).hexdigest()[:16]


def to_prove(course: Sequence[Lesson], kept: dict[str, str], turn: int) -> list[Lesson]:
    """Lessons that are not *kept* as they are, and each twelfth, of those whose *turn* it is."""
    return [
        lesson
        for number, lesson in enumerate(course)
        if number % TURNS == turn or kept.get(lesson.name) != digest(lesson, course)
    ]


def todays_turn() -> int:
    return int(sha256(json.dumps(edition()).encode()).hexdigest(), 16) % TURNS


def kept_lessons(file: Path = FILE) -> dict[str, str]:
    return tomllib.loads(file.read_text("utf-8"))


def keep(proved: Iterable[Lesson], course: Sequence[Lesson], file: Path = FILE) -> None:
    """Write the digests of the *proved*, also where other workers do so; of lessons that are gone none stays."""
    with file.open("r+", encoding="utf-8") as rows:
        fcntl.flock(rows, fcntl.LOCK_EX)
        kept = tomllib.loads(rows.read()) | {lesson.name: digest(lesson, course) for lesson in proved}
        rows.seek(0)
        rows.truncate()
        rows.write(HEAD + "".join(f'{one.name} = "{kept[one.name]}"\n' for one in course if one.name in kept))
