"""Lessons of the course with a wound: a byte or a line is another one, and what is left is a lesson or its faults."""

import random
from pathlib import Path

import pytest

from app.content.blocks import Lesson
from app.content.parse import parse_lesson
from tests.courses import LESSONS

TEXTS = {path: path.read_bytes() for path in sorted(LESSONS.glob("*/0*.md"))}
BYTES = b"\x00\t\n !\"#$%&'()*+,-./0:;<=>?[\\]^_`{|}~aZ\x80\xc3\xa9\xff"


def wounded(draw: random.Random) -> tuple[Path, str]:
    """A lesson in which one byte, or one line, is gone, doubled, moved or another one."""
    path = draw.choice(list(TEXTS))
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
        found += [read] if read else []
    return found


def test_a_wounded_lesson_is_a_lesson_or_its_faults():
    assert check_wounds(seed=1, count=60)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_wounded_lessons_are_lessons_or_their_faults(seed):
    assert check_wounds(seed, count=400)
