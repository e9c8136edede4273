"""Lessons with a wound: a byte, a word or a line is another one, and what is left is a lesson or its faults."""

import random
import re
from pathlib import Path

import pytest

from app.content.blocks import Lesson
from app.course.export import cells_of, written_as
from app.course.lint_lessons import prove_care
from app.course.parse import parse_lesson
from tests.courses import ARCHITECTURES, LESSONS

FIXTURES = Path(__file__).parent / "fixtures" / "good"
FOLDERS = (LESSONS, ARCHITECTURES, FIXTURES.parent)
TEXTS = {path: path.read_bytes() for folder in FOLDERS for path in sorted(folder.glob("[0-9g]*/0*.md"))}
WORDS = re.compile(rb"\w+|[^\w\s]")
STRANGE = (b"", b"0", b"-1", b"1e400", b"9" * 30, b"[]", b"{}", b"None")
BYTES = b"\x00\t\n !\"#$%&'()*+,-./0:;<=>?[\\]^_`{|}~aZ\x80\xc3\xa9\xff"


def wounded(draw: random.Random) -> tuple[Path, str]:
    """A lesson in which one byte, word or line is gone, doubled, moved or another one."""
    path = draw.choice(list(TEXTS))
    if draw.random() < 0.3:
        words = list(WORDS.finditer(TEXTS[path]))
        gone, other = draw.choice(words), draw.choice([draw.choice(words)[0], *STRANGE])
        return path, (TEXTS[path][: gone.start()] + other + TEXTS[path][gone.end() :]).decode("utf-8", "replace")
    unit: list[bytes] = TEXTS[path].splitlines(keepends=True) if draw.random() < 0.6 else [TEXTS[path]]
    lines = len(unit) > 1
    parts = unit if lines else [bytes([one]) for one in TEXTS[path]]
    at = draw.randrange(len(parts))
    other = draw.choice(parts) if lines else bytes([draw.choice(BYTES)])
    wound = draw.choice([[], [parts[at], parts[at]], [other], [other, parts[at]], [parts[at], other]])
    return path, b"".join([*parts[:at], *wound, *parts[at + 1 :]]).decode("utf-8", "replace")


def check_wounds(seed: int, count: int) -> list[Lesson]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        path, text = wounded(draw)

        read, errors = parse_lesson(text, path.as_posix())

        assert (read is None) == bool(errors), text
        assert all(1 <= one.place.line <= text.count("\n") + 2 for one in errors), text
        assert all(one.message.strip() for one in errors), text
        if read:
            prove_care(read)
            found.append(read)
    return found


def test_a_wounded_lesson_is_a_lesson_or_its_faults():
    assert check_wounds(seed=1, count=60)


def test_what_a_wound_leaves_of_a_lesson_can_be_taken_away():
    for lesson in check_wounds(seed=20, count=24):
        assert written_as("py", cells_of(lesson))


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_wounded_lessons_are_lessons_or_their_faults(seed):
    assert check_wounds(seed, count=400)
