"""Prove the formulas: KaTeX itself reads each one, as a browser will."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from app.check.findings import Finding
from app.content.blocks import Lesson, Place, markup_in

FORMULA = re.compile(r'<(?:span|div) class="math" data-display="(true|false)"[^>]*>(.*?)</(?:span|div)>', re.DOTALL)
SCRIPT = Path(__file__).resolve().parents[2] / "static" / "check-tex.mjs"
SECONDS = 60


def prove_formulas(lessons: list[Lesson]) -> list[Finding]:
    """A finding for every formula that KaTeX refuses; one notice where KaTeX is not installed here."""
    found = [(place, tex, display) for lesson in lessons for place, tex, display in _formulas(lesson)]
    if not found:
        return []
    messages = _asked([(tex, display) for _, tex, display in found])
    if messages is None:
        message = "Formulas were not read by KaTeX: that needs node and `npm ci`."
        return [Finding(found[0][0], "notice", "tex-unread", message)]
    return [
        Finding(place, "error", "tex", f"KaTeX cannot read ${tex}$: {message}")
        for (place, tex, _), message in zip(found, messages, strict=True)
        if message
    ]


def _asked(formulas: list[tuple[str, bool]]) -> list[str | None] | None:
    node = shutil.which("node")
    if node is None or not (SCRIPT.parents[1] / "node_modules" / "katex").is_dir():
        return None
    answer = subprocess.run(
        [node, str(SCRIPT)], input=json.dumps(formulas), capture_output=True, text=True, check=True, timeout=SECONDS
    )
    messages: list[str | None] = json.loads(answer.stdout)
    return messages


def _formulas(lesson: Lesson) -> Iterator[tuple[Place, str, bool]]:
    parts = [(lesson.place, lesson.goals), *((block.place, block) for block in lesson.blocks)]
    for place, part in parts:
        for markup in markup_in(part):
            for display, tex in FORMULA.findall(markup):
                text = unescape(tex).strip()
                yield _place(lesson, place, text), text, display == "true"


def _place(lesson: Lesson, place: Place, tex: str) -> Place:
    """Where *tex* begins, at *place* or below; *place* itself where the source has it otherwise."""
    first = tex.partition("\n")[0]
    lines = list(enumerate(lesson.source.split("\n"), start=1))[place.line - 1 :]
    for begin in (f"${first}", first):
        for number, line in lines:
            if begin in line:
                return Place(place.path, number, line.index(begin) + 1)
    return place
