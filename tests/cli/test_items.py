"""`backhand items` as an author calls it."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.commands import app
from app.store import learners, progress
from app.store.database import Database
from app.store.migrate import migrate
from app.store.progress import NewAttempt

COURSE = Path(__file__).resolve().parents[1] / "web" / "course"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("BACKHAND_LESSONS", str(COURSE))
    return tmp_path


def items(*words: str) -> Result:
    return CliRunner().invoke(app, ["items", *words])


async def answer(data: Path, people: int) -> None:
    """Let so many learners choose the wrong option twelve times, all but one of them until they are right."""
    url = f"sqlite+aiosqlite:///{data / 'backhand.db'}"
    await migrate(url)
    database = Database(url)
    for number in range(people):
        async with database.write() as db:
            learner, _ = await learners.begin_session(db)
            for right in (*[False] * 12, *([True] if number else [])):
                verdict = json.dumps({"correct": right, "echo": ""})
                text = json.dumps(["1" if right else "0"])
                attempt = NewAttempt(kind="quiz", text=text, verdict=verdict, correct=right)
                await progress.record_attempt(db, learner, "linear-layer", "pick", attempt)
    await database.close()


def test_it_tells_what_needs_its_author_with_file_and_line(data: Path) -> None:
    asyncio.run(answer(data, 10))

    lines = items("linear").output.splitlines()

    assert lines[0].endswith("1-layers/01-linear.md:45: 10 tried, 0 % right at first")
    assert "Fewer than half were right within five tries." in lines[1]
    assert any("a mean" in line and line.endswith("01-linear.md:48)") for line in lines)


def test_as_json_it_has_every_number_and_nothing_of_a_few(data: Path) -> None:
    asyncio.run(answer(data, 3))

    told = json.loads(items("linear-layer", "--json").output)

    (item,) = told["items"]
    assert (item["exercise"], item["counts"]["tried"], item["counts"]["right"]) == ("pick", 3, None)
    assert item["mistakes"][0]["said"] == "a mean"
    assert item["counts"]["median_tries"] is None


def test_before_anybody_tried_it_says_so() -> None:
    assert items().output == "Fewer than 3 learners tried any of these exercises.\n"


def test_a_lesson_that_is_not_there_is_named() -> None:
    answer = items("nowhere")

    assert answer.exit_code == 2
    assert "The course has no lesson 'nowhere'." in answer.output


def test_a_class_is_asked_for_by_its_number(data: Path) -> None:
    asyncio.run(answer(data, 3))
    made = CliRunner().invoke(app, ["class", "create", "Algebra", "--json"])

    told = items("--class", str(json.loads(made.output)["class"]["id"] if "class" in made.output else 1))

    assert told.output == "Fewer than 3 learners tried any of these exercises.\n"
    refused = items("--class", "77")
    assert refused.exit_code == 2
    assert "There is no class 77." in refused.output


def test_a_course_with_faults_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = shutil.copytree(COURSE, tmp_path / "course")
    (course / "1-layers" / "01-linear.md").write_text("no front matter")
    monkeypatch.setenv("BACKHAND_LESSONS", str(course))

    answer = items()

    assert answer.exit_code == 1
    assert "Nothing was counted." in answer.output
