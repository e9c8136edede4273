"""What a learner reads of each wrong piece, word for word: `make pictures` renews what is kept in `said`.

The pieces are those beside `tests/grading/unseen/load.py`, whose codes `test_unseen.py` compares.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.grade.engine import Engine
from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import Box
from tests.grading.unseen.load import BOXES, WRONG, Piece

KEPT = Path(__file__).parent / "said"
RENEW = "PICTURES" in os.environ


SAID = re.compile(r"^```python\n(.*?)\n```\n(.*?)\n*(?=^```python|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<=:)[\w-]+")


def said_of(engine: Engine, piece: Piece) -> str:
    """Every name that is not right, with what is said of it; those of which the same is said together."""
    told = defaultdict[str, list[str]](list)
    for one in engine.check(piece.box.task(grade="value"), piece.submission).names:
        if one.verdict not in RIGHT:
            told[f"{one.verdict}: {one.message}"].append(one.code or one.name)
    return "".join(f"- {' '.join(names)} {message}\n" for message, names in told.items())


def said(engine: Engine, box: Box) -> str:
    pieces = (f"```python\n{one.text}\n```\n{said_of(engine, one)}" for one in WRONG if one.box is box)
    return "\n".join([f"# {box.name}\n", *pieces])


def kept() -> Iterator[tuple[Piece, str]]:
    """Each piece, with what is kept of it."""
    texts = {(box.name, text): said for box in BOXES for text, said in SAID.findall(file_of(box).read_text("utf-8"))}
    return ((piece, texts[piece.box.name, piece.text]) for piece in WRONG)


def file_of(box: Box) -> Path:
    return KEPT / f"{box.name}.md"


def first_of_each_code() -> Iterator[tuple[Piece, str]]:
    """One piece for each sentence that is kept: the first with a code that none before it has."""
    seen: set[str] = set()
    for piece, said in kept():
        codes = {code for row in said.splitlines() for code in CODE.findall(row.partition(": ")[0])}
        if not codes <= seen:
            seen |= codes
            yield piece, said


@pytest.mark.in_turn
@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_one_piece_of_each_code_is_told_in_the_same_words(engine: Engine, box: Box) -> None:
    chosen = [(piece, said) for piece, said in first_of_each_code() if piece.box is box]

    assert [said_of(engine, piece).rstrip("\n") for piece, _ in chosen] == [said for _, said in chosen]


@pytest.mark.prove
@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_a_wrong_piece_is_told_in_the_same_words(engine: Engine, box: Box) -> None:
    found = said(engine, box)

    if RENEW:
        file_of(box).write_text(found, "utf-8")

    assert found == file_of(box).read_text("utf-8"), "read it; then: make pictures"
