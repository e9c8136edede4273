"""`python -m tests.compatibility.record 1.1.0`: keep a database and a course of this version, for those to come.

Run once, for a release that changes the schema or the format of lessons; what is there is never made again.
"""

import asyncio
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from app.course.course import load_course
from app.settings import Settings
from app.web.application import create_app
from tests.styleguide.page import LESSON
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.accounts import begin, take_name

ROOT = Path(__file__).resolve().parents[2]
TEXT = "dW = X.T @ dY  # as it was written then"


def record(folder: Path) -> None:
    course = folder / "course"
    shutil.copytree(ROOT / "tests" / "web" / "course", course)
    (course / "2-components").mkdir()
    (course / "2-components" / "unit.md").write_text("---\ntitle: Components\n---\n")
    shutil.copy(LESSON, course / "2-components" / "01-components.md")
    (folder / "exercises.txt").write_text("\n".join(exercises_in(course)) + "\n", "utf-8")
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(data_dir=Path(place), lessons=course)
        app = create_app(settings, load_course(course), FakeGrader())
        with TestClient(app, headers=BROWSER):
            fill(app)
        with sqlite3.connect(Path(place) / "backhand.db") as database:
            (folder / "work.sql").write_text("\n".join(database.iterdump()) + "\n", "utf-8")


def exercises_in(course: Path) -> list[str]:
    """Every exercise as `lesson#exercise`, with what kind of block it is."""
    return [
        f"{lesson.name}#{exercise.name} {type(exercise).__name__}"
        for lesson in load_course(course).lessons
        for exercise in lesson.exercises
    ]


def fill(app: FastAPI) -> None:
    room = Classroom(app, asyncio.run)
    ada, grace = room.browser("Ada", teaches=True), room.browser("Grace")
    take_name(ada)
    group = room.found("Algebra", "Ada")
    room.assign(group, "linear")
    room.join(group, "Grace")
    begin(grace, TEXT)
    grace.post("/lessons/linear/quiz/dw-shape", data={"answer": "(4, 3)"})
    grace.post("/lessons/linear/code/linear-backward/check", data={"code": TEXT, "revision": "1"})
    take_name(grace, "Grace")


if __name__ == "__main__":
    target = Path(__file__).parent / sys.argv[1]
    target.mkdir()
    record(target)
