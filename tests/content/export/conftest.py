"""Exports are run as their readers run them: in a process that knows torch and nothing of this project."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from app.content.blocks import CodeBox, Lesson
from app.course.course import load_lesson
from app.course.export import EXPORT_FORMS, Work, cells_of, written_as
from app.engine.train.corpus_file import load_names
from app.kinds.registry import right_answers
from app.web.pictures.alone import drawings_of
from tests.courses import LESSONS, course_in

ROOT = Path(__file__).parents[3]
FIXTURES = Path(__file__).parents[1] / "fixtures" / "good"

# Runs the code cells of every notebook from top to bottom, and every script as a whole; says what each printed.
RUNNER = """
import contextlib, io, json, os, pathlib, sys, traceback

for folder in map(str.strip, sys.stdin):
    os.chdir(folder)
    said = {}
    for path in pathlib.Path(folder).iterdir():
        text = path.read_text("utf-8")
        cells = json.loads(text)["cells"] if path.suffix == ".ipynb" else [{"cell_type": "code", "source": text}]
        names = {"__name__": "__main__"}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                for cell in cells:
                    if cell["cell_type"] == "code":
                        exec(compile("".join(cell["source"]), path.name, "exec"), names)
                error = ""
            except Exception:
                error = traceback.format_exc()
        said[path.name] = {"printed": printed.getvalue(), "error": error}
    assert not [name for name in sys.modules if name == "app" or name.startswith("app.")]
    print(json.dumps(said), flush=True)
"""

Run = Callable[[Mapping[str, str]], dict[str, dict[str, str]]]


@pytest.fixture(scope="session")
def run_exports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs files in a process that imports torch once; by file name: what it printed, and where it stopped."""
    reader = subprocess.Popen(
        [sys.executable, "-I", "-c", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdin is not None
    assert reader.stdout is not None

    def run(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
        folder = tmp_path_factory.mktemp("exports")
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        print(folder, file=reader.stdin, flush=True)
        return json.loads(reader.stdout.readline())

    with reader:
        yield run


@pytest.fixture(scope="session")
def lessons() -> list[Lesson]:
    return [*course_in(LESSONS).lessons, *(load_lesson(path) for path in sorted(FIXTURES.glob("*.md")))]


def solutions_of(lesson: Lesson) -> dict[str, str]:
    boxes = [box for box in lesson.exercises if isinstance(box, CodeBox)]
    return {box.name: box.solution.source for box in boxes}


@pytest.fixture(scope="session")
def exports(lessons: list[Lesson]) -> dict[str, str]:
    """Every lesson in every form, by file name such as `matmul.solved.ipynb`.

    With blanks and nothing else, or with the solutions, the pictures and the names of the course.
    """
    files = {}
    for lesson in lessons:
        right = right_answers(lesson)
        solved = Work(codes=solutions_of(lesson), right=right, drawings=drawings_of(lesson), names=load_names().names)
        for state, work in (("blank", Work(right=right)), ("solved", solved)):
            cells = cells_of(lesson, work)
            files |= {f"{lesson.slug}.{state}.{form}": written_as(form, cells) for form in EXPORT_FORMS}
    return files


STEPS = re.compile(r'^([\s"]*steps\w*(?:, \w+)* =) \d{4}\b', re.MULTILINE)
"""How long a run trains: in a few steps it shows what it is, but not the loss that the course promises."""
LONG = ("training.solved.ipynb", ".solved.py")
"""The ends of what trains as long as the lesson says: one notebook, and every script."""


class Ran(dict[str, dict[str, str]]):
    """What notebooks and scripts did; each is run when it is asked for."""

    def __init__(self, exports: dict[str, str], run: Run) -> None:
        super().__init__()
        self._exports, self._run = exports, run

    def __missing__(self, name: str) -> dict[str, str]:
        text = self._exports[name]
        self |= self._run({name: text if name.endswith(LONG) else STEPS.sub(r"\1 30", text)})
        return self[name]


@pytest.fixture(scope="session")
def ran(exports: dict[str, str], run_exports: Run) -> Ran:
    return Ran(exports, run_exports)
