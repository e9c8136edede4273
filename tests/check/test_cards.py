"""What the cards of torch print is what torch prints."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.courses import LESSONS

CARD = re.compile(r"^:::+\{card\} ([^\n]+)$(.*?)^:::+$", re.M | re.S)
WANTED = ("x > 0", "t]", "[:, None]", ".T", "keepdim", "zeros_like", "F.", "view")


def cards() -> Iterator[tuple[str, str]]:
    for file in sorted(Path(LESSONS).glob("*/*.md")):
        for title, body in CARD.findall(file.read_text()):
            yield title, "\n".join(re.findall(r"^```python\n(.*?)^```$", body, re.M | re.S))


def tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(("title", "code"), list(cards()))
def test_each_line_of_a_card_gives_what_is_written_beside_it(title: str, code: str) -> None:
    scope: dict[str, Any] = {"torch": torch, "F": F}
    lines = code.splitlines()

    assert any(line.startswith("#") for line in lines), title
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below.startswith("#"):
            assert tight(repr(eval(line, scope))) == tight(below[1:]), line
        elif not line.startswith("#"):
            exec(line, scope)


@pytest.mark.parametrize("piece", WANTED)
def test_each_piece_that_the_boxes_need_has_a_card(piece: str) -> None:
    assert [title for title, _ in cards() if piece in title]
