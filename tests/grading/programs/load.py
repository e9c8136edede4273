"""Programs in the style of public code, each with its backward pass by hand and with other right ones.

A text holds several programs, each under a heading of its own: `forward` is a program with its options, as in a lesson;
`solution` a right backward pass; each `form` another one, written as others write it; in `right` stand pieces, with an
empty line between, each of which may replace the lines that write its last gradient. What is asked for is every
gradient that the solution writes. The programs are read as a lesson is, by the parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.content.blocks import Forward, Grad
from app.course.parse import parse_lesson
from app.engine.task import GradTask, grad_task_of
from app.grading.judge.parsed_submission import parse_submission
from tests.grading.boxes.load import Box
from tests.grading.unseen.load import Piece

HERE = Path(__file__).parent
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ASSIGNED = re.compile(r"^(\w+)(?:\[.*?\])? [-+*/]?= ", re.MULTILINE)
LESSON = """---
title: {name}
id: programs
estimate: 1 min
---

```{{forward}} {name}
{forward}```

::::{{grad}} {name}-box
:forward: {name}
:require: {require}

The backward pass.

```{{starter}}
{starter}
```

```{{solution}}
{solution}```
::::
"""


@dataclass(frozen=True, eq=False)
class Program:
    """A program of the set; *forms* are whole backward passes, the first of them the solution."""

    name: str
    text: str
    forms: tuple[str, ...]
    pieces: tuple[str, ...]

    @property
    def solution(self) -> str:
        return self.forms[0]

    @cached_property
    def require(self) -> tuple[str, ...]:
        """The gradients that the solution writes, in backward order."""
        tensors = {name for line in self.text.splitlines() for name in _written(line)}
        given = f"d{_option(self.text, 'output')}"
        named = [name for name in ASSIGNED.findall(self.solution) if name[:1] == "d" and name[1:] in tensors]
        return tuple(name for name in dict.fromkeys(named) if name != given)

    @cached_property
    def task(self) -> GradTask:
        """What is graded.

        Raises:
            ValueError: The parser finds a fault.
        """
        text = LESSON.format(
            name=self.name,
            forward=self.text,
            require=" ".join(self.require),
            starter="\n".join(f"{name} = ____" for name in self.require),
            solution=self.solution,
        )
        lesson, faults = parse_lesson(text, "programs/programs.md")
        if lesson is None:
            raise ValueError("\n".join(f"{one.code}: {one.message}" for one in faults))
        box = lesson.exercise(f"{self.name}-box")
        assert isinstance(box, Grad)
        return grad_task_of(lesson, box)

    @property
    def forward(self) -> Forward:
        return self.task.forward

    @cached_property
    def right(self) -> tuple[str, ...]:
        """Every right backward pass but the solution."""
        box = Box(self.name, self.forward, self.require, self.solution)
        pieces = (Piece(box, self._last(text), text, "right", 0).submission for text in self.pieces)
        return (*self.forms[1:], *pieces)

    def _last(self, text: str) -> str:
        last = parse_submission(text).last
        return max((name for name in last if name in self.require), key=lambda name: last[name])

    def __str__(self) -> str:
        return self.name


def _written(line: str) -> Iterator[str]:
    """The tensors that a line of a program, or its list of inputs, makes."""
    if line.startswith(":inputs:"):
        yield from re.findall(r"(\w+):", line.removeprefix(":inputs:"))
    elif not line.startswith(":"):
        target = line.partition(" = ")[0].strip()
        yield from re.findall(r"\w+", target)


def _option(text: str, name: str) -> str:
    found = re.search(rf"^:{name}: (.*)$", text, re.MULTILINE)
    assert found is not None, f"a program says its {name}"
    return found[1].strip()


def read(path: Path) -> Iterator[Program]:
    for name, body in SECTION.findall(path.read_text(encoding="utf-8")):
        blocks = FENCE.findall(body)
        forms = [text for kind, text in blocks if kind in {"solution", "form"}]
        pieces = [piece for kind, text in blocks if kind == "right" for piece in re.split(r"\n{2,}", text.strip())]
        yield Program(name, next(text for kind, text in blocks if kind == "forward"), tuple(forms), tuple(pieces))


PROGRAMS = tuple(program for path in sorted(HERE.glob("*.md")) for program in read(path))
