"""What a learner reads of each wrong piece, word for word: `make pictures` renews what is kept in `said`.

The pieces are those beside `tests/grading/unseen/load.py`, whose codes `test_unseen.py` compares.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

from app.engine.grade.engine import Engine
from app.grading.judge.verdict import RIGHT
from tests.grading.boxes.load import Box
from tests.grading.unseen.load import BOXES, WRONG

KEPT = Path(__file__).parent / "said"
RENEW = "PICTURES" in os.environ


def said(engine: Engine, box: Box) -> str:
    """By piece: every name that is not right, with what is said of it; those of which the same is said together."""
    parts = [f"# {box.name}\n"]
    for piece in (one for one in WRONG if one.box is box):
        told = defaultdict[str, list[str]](list)
        for one in engine.check(box.task(grade="value"), piece.submission).names:
            if one.verdict not in RIGHT:
                told[f"{one.verdict}: {one.message}"].append(one.code or one.name)
        rows = [f"- {' '.join(names)} {message}\n" for message, names in told.items()]
        parts.append(f"```python\n{piece.text}\n```\n{''.join(rows)}")
    return "\n".join(parts)


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.name)
def test_a_wrong_piece_is_told_in_the_same_words(engine: Engine, box: Box) -> None:
    found = said(engine, box)
    file = KEPT / f"{box.name}.md"

    if RENEW:
        file.write_text(found, "utf-8")

    assert found == file.read_text("utf-8"), "read it; then: make pictures"
