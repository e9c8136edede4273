"""Programs that are in no lesson, with wrong and right lines for their backward pass, read from the texts beside this.

A text holds a forward program, a right backward pass, wrong pieces and right pieces. A piece is one line or several; it
ends with a comment: the code that it must get, or `right`. It stands in the place of the lines that write the gradient
of its code; `old => new` changes a part of the right text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.grading.judge.parsed_submission import parse_submission
from tests.grading.boxes.load import Box, make_forward

HERE = Path(__file__).parent
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^- (\w+): (.*)$", re.MULTILINE)
END = re.compile(r"\s+# ([\w:.+*/()^-]+)$")


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a submission: *code* is what it must get, or `right`; *line* is its place in the text."""

    box: Box
    name: str
    text: str
    code: str
    line: int

    @property
    def submission(self) -> str:
        """The right backward pass with this piece in it."""
        old, arrow, new = self.text.partition(" => ")
        if arrow:
            assert self.box.solution.count(old) == 1, self
            return self.box.solution.replace(old, new)
        plan, rows = parse_submission(self.box.solution), self.box.solution.splitlines()
        spans = [(line.line - 1, line.end_line) for line in plan.writing(self.name)]
        gone = {at for start, end in spans for at in range(start, end)}
        kept = [row for at, row in enumerate(rows) if at not in gone and at < spans[0][0]]
        return "\n".join(
            [*kept, self.text, *(row for at, row in enumerate(rows) if at not in gone and at > spans[0][0])]
        )

    def __str__(self) -> str:
        return f"{self.box.name}:{self.line} {self.text.splitlines()[-1].strip()}"


def read(path: Path) -> tuple[Box, list[Piece]]:
    text = path.read_text(encoding="utf-8")
    fields = dict(FIELD.findall(text))
    blocks = {found[1]: found for found in FENCE.finditer(text)}
    name = path.stem
    forward = make_forward(name, fields["dims"], fields["inputs"], fields["output"], blocks["forward"][2])
    box = Box(name, forward, tuple(fields["require"].split()), blocks["solution"][2])
    pieces = [piece for kind in ("wrong", "right") if kind in blocks for piece in _pieces(box, text, blocks[kind])]
    return box, pieces


def _pieces(box: Box, text: str, block: re.Match[str]) -> Iterator[Piece]:
    first = text.count("\n", 0, block.start(2)) + 1
    rows: list[str] = []
    for at, row in enumerate(block[2].splitlines()):
        end = END.search(row)
        rows.append(row if end is None else row[: end.start()])
        if end is not None:
            written = "\n".join(rows)
            rows = []
            name = _written(box, written) if end[1] == "right" else end[1].split(":")[0]
            yield Piece(box, name, written, end[1], first + at)


def _written(box: Box, text: str) -> str:
    last = parse_submission(text.partition(" => ")[0]).last
    if " => " in text:
        return ""
    return max((name for name in last if name in box.require), key=lambda name: last[name])


PROGRAMS = tuple(read(path) for path in sorted(HERE.glob("*.md")))
BOXES = tuple(box for box, _ in PROGRAMS)
WRONG = tuple(piece for _, pieces in PROGRAMS for piece in pieces if piece.code != "right")
RIGHT_PIECES = tuple(piece for _, pieces in PROGRAMS for piece in pieces if piece.code == "right")
