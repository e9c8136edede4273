"""`backhand practice` as authors and operators call it."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import practice as practice_command
from app.cli.commands import app
from app.course.course import load_lesson
from app.course.parse import parse_lesson
from app.practice.draw import VERSION, generate_item
from app.practice.pool import columns_of
from app.store import learners, practice_items
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.tables import ServedItem
from tests.graders import SharedGraders


@pytest.fixture
def run(graders: SharedGraders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(practice_command, "LocalGraders", lambda *_, **__: graders)
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))

    def called(*words: str) -> Result:
        return CliRunner().invoke(app, ["practice", *words])

    return called


def test_a_drawn_item_is_lesson_text_and_the_same_for_one_seed(run, tmp_path: Path) -> None:
    words = ("draw", "--level", "1", "--wanted", "mean", "--seed", "3")
    first, second = run(*words), run(*words)
    (tmp_path / "01-piece.md").write_text(first.stdout)

    assert first.stdout == second.stdout
    assert load_lesson(tmp_path / "01-piece.md").exercises[0].name.startswith("practice-")


def test_the_operations_may_be_chosen(run) -> None:
    found = run("draw", "--level", "1", "--within", "matmul bias", "--seed", "1")

    assert found.exit_code == 0
    assert "torch." not in found.stdout


@pytest.mark.parametrize("words", [("--wanted", "meen"), ("--within", "matmull"), ("--level", "2", "--within", "tanh")])
def test_what_cannot_be_drawn_is_said_in_a_sentence(run, words: tuple[str, ...]) -> None:
    found = run("draw", *words)

    assert found.exit_code != 0
    assert "Traceback" not in found.output
    assert words[-1] in found.output or "none of these operations" in found.output


def test_a_table_tells_how_many_exercises_are_kept(run) -> None:
    head, _, told = run("prove", "--level", "1", "--count", "2", "--seed", "1").stdout.splitlines()

    assert dict(zip(head.strip("| ").split(" | "), told.strip("| ").split(" | "), strict=True))["kept"] == "2"


def test_a_piece_of_a_lesson_needs_no_front_matter_and_a_lesson_does() -> None:
    fragment = generate_item(1, 1).fragment

    piece, errors = parse_lesson(fragment, "1-unit/01-piece.md", piece=True)
    assert piece is not None, errors
    assert piece.blocks[0].place.line == 1
    assert [one.code for one in parse_lesson(fragment, "1-unit/01-piece.md")[1]][:1] == ["no-front-matter"]
    assert parse_lesson("Prose.\n\n" + fragment, "1-unit/01-piece.md", piece=True)[0] is None


def test_points_are_told_and_changed_only_when_asked_to(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'practice.db'}"
    monkeypatch.setenv("BACKHAND_DATABASE_URL", url)
    monkeypatch.setattr("app.practice.difficulty.ENOUGH", 1)
    monkeypatch.setattr("app.practice.difficulty.RATING_STEP", 2.0)
    item = next(
        one for seed in range(99) if (one := generate_item(1, seed)).points > 4
    )  # not of the easiest operations

    async def prepared() -> None:
        await migrate(url)
        database = Database(url)
        async with database.write() as db:
            learner, _ = await learners.begin_session(db)
            await practice_items.store_item(db, columns_of(item))
            (row,) = await practice_items.list_items(db, VERSION)
            given = {"family": "matmul", "slip": "", "given_at": now(), "done_at": now(), "hints": 0}
            db.add(ServedItem(learner_id=learner, item_id=row.id, **given))
        await database.close()

    async def points() -> float:
        database = Database(url)
        async with database.read() as db:
            (row,) = await practice_items.list_items(db, VERSION)
        await database.close()
        return row.points

    asyncio.run(prepared())
    told = run("points")
    assert "1 of 1 solved" in told.stdout
    assert asyncio.run(points()) == item.points
    assert "1 exercises have new points." in run("points", "--write").stdout
    assert asyncio.run(points()) < item.points
