"""The wheel as people install it: beside the packages of the tests, started in an empty folder, with a home of its own.

What it installs is never written to. Commands are walked through, each as a process, as at a terminal; those that start
graders in `make prove`.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from benchmarks.serving import Learner, free_port, wait_for
from tests.waiting import SECONDS

ROOT = Path(__file__).resolve().parents[1]
LESSON = "2-tensors/10-a-layer-trained.md"
PAGE = "/lessons/a-layer-trained"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
WRONG = RIGHT.replace("X.T @ dY", "dY.T @ X")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel that is built of it."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=ROOT, check=True)
    (source,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(source, folder)
    unpacked = source.name.removesuffix(".tar.gz")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=folder / unpacked, check=True)
    return folder


class Installed:
    """The wheel in a virtual environment, and a user with an empty folder and a home."""

    def __init__(self, folder: Path, built: Path) -> None:
        self.here, self.home = folder / "here", folder / "home"
        self.here.mkdir(parents=True)
        self.home.mkdir()
        (self.wheel,) = built.glob("*.whl")
        venv.create(folder / "venv", symlinks=True)
        self.python = folder / "venv" / "bin" / "python"
        self.install()
        (self.packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        (self.packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
        self.command = folder / "venv" / "bin" / "backhand"
        self.data = self.home / ".local" / "share" / "backhand"

    def install(self, *words: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--upgrade", "--force-reinstall", *words, self.wheel], check=True)

    def environment(self, **settings: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BACKHAND_", "XDG_"))}
        return {**kept, "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", "BACKHAND_GRADERS": "1", **settings}

    def run(self, *words: object, status: int = 0, **settings: str) -> str:
        """What the command prints; whatever it ends with, never a traceback."""
        done = subprocess.run(
            [self.command, *map(str, words)],
            cwd=self.here, env=self.environment(**settings), capture_output=True, text=True,
            timeout=2 * SECONDS, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    @contextmanager
    def serving(self, *words: str, **settings: str) -> Iterator[tuple[Learner, Path]]:
        """A learner at a server that is ready, and the file with what it prints."""
        port, log = free_port(), self.home / "log"
        command = [self.command, *(words or ("serve",)), "--port", str(port)]
        with log.open("w") as out, subprocess.Popen(
            command, cwd=self.here, env=self.environment(**settings), stdout=out, stderr=out
        ) as process:  # fmt: skip
            try:
                wait_for(port)
                with closing(Learner(port)) as learner:
                    yield learner, log
            finally:
                process.terminate()
        assert "Traceback" not in log.read_text()

    def files(self) -> Mapping[Path, int]:
        return {file: file.stat().st_mtime_ns for file in self.packages.rglob("*")}


@pytest.fixture(scope="module")
def copy(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), built)


@pytest.fixture
def installed(copy: Installed) -> Iterator[Installed]:
    """The copy, with nothing yet in the folder that its user stands in."""
    yield copy
    shutil.rmtree(copy.here)
    copy.here.mkdir()


def test_a_wheel_holds_every_file_that_is_no_code(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    held = {name.removeprefix("app/_share/") for name in zipfile.ZipFile(wheel).namelist()}
    folders = ("lessons", "templates", "static/dist")
    wanted = {
        file.relative_to(ROOT).as_posix()
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }

    assert wanted <= held
    assert {f"app/{file.relative_to(ROOT / 'app').as_posix()}" for file in (ROOT / "app").rglob("*.toml")} <= held
    assert not [name for name in held if name.startswith("tests")]
    assert wheel.stat().st_size < 3_000_000


def test_a_wheel_that_is_only_unpacked_finds_its_files_and_keeps_them(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    packages, here = tmp_path / "packages", tmp_path / "here"
    shutil.unpack_archive(wheel, packages, "zip")
    here.mkdir()
    before = {file: file.stat().st_mtime_ns for file in packages.rglob("*")}
    shipped = packages / "app" / "_share" / "lessons"

    def ended(*words: object) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "app", *map(str, words)],
            cwd=here, env={**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    assert ended("export", shipped / LESSON)[0] == 0
    assert [file.name for file in here.iterdir()] == ["10-a-layer-trained.ipynb"]
    status, said = ended("course", shipped / "more")
    assert status == 2
    assert "belongs to the installed package" in said
    assert {file: file.stat().st_mtime_ns for file in packages.rglob("*")} == before


def test_a_checkout_is_installed_before_scripts_and_styles_are_built(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()

    builder = WheelBuilder(str(tmp_path))
    (editable,) = builder.build(directory=str(tmp_path / "dist"), versions=["editable"])
    held = zipfile.ZipFile(editable).namelist()

    assert not [name for name in held if "_share" in name]
    with pytest.raises(FileNotFoundError, match="static/dist is not built"):
        next(builder.build(directory=str(tmp_path / "dist"), versions=["standard"]))


@pytest.mark.prove
def test_an_installed_copy_serves_from_an_empty_folder(installed: Installed) -> None:
    before = installed.files()
    with installed.serving() as (learner, log):
        page = learner.get(PAGE)[1]
        style = re.search(r'href="(/static/app-[^"]+\.css)"', page)
        assert style is not None
        assert learner.get(style[1])[0] == 200
        verdicts = []
        for code in (WRONG, RIGHT):
            answer = learner.post(f"{PAGE}/code/linear-backward/check", {"code": code, "revision": learner.revision})
            verdicts.append('data-passed="true"' in answer[1])
        answers = installed.run("backup", installed.home / "monday.backup")
        after = installed.files()
        installed.install("--no-compile")

    assert verdicts == [False, True]
    assert str(installed.data) in log.read_text()
    assert "bytes." in answers
    assert after == before
    assert list(installed.here.iterdir()) == []
    # An upgrade over the running server has lost nothing.
    with closing(sqlite3.connect(installed.data / "backhand.db")) as database:
        assert [text.strip() for (text,) in database.execute("select text from draft")] == [RIGHT.strip()]
        assert database.execute("select count(*) from attempt").fetchone() == (2,)


@pytest.mark.prove
def test_an_installed_copy_writes_where_it_is_told_and_never_into_itself(installed: Installed) -> None:
    before = installed.files()
    shipped = installed.packages / "app" / "_share" / "lessons"

    assert installed.run("--version") == f"backhand {installed.wheel.name.split('-')[1]}\n"
    assert "10-a-layer-trained.ipynb" in installed.run("export", shipped / LESSON)
    assert (installed.here / "10-a-layer-trained.ipynb").is_file()
    assert "belongs to the installed package" in installed.run("course", shipped / "more", status=2)
    assert installed.files() == before


@pytest.mark.prove
def test_an_installed_copy_grades_draws_checks_and_previews(installed: Installed) -> None:
    before = installed.files()
    shipped = installed.packages / "app" / "_share" / "lessons"
    (installed.here / "mine.py").write_text(WRONG)
    assert "lessons were copied to course" in installed.run("course", "course")
    assert "course/99-more/01-mine.md written" in installed.run("new", "course/99-more/01-mine.md")

    assert f"work is kept in {installed.data}" in installed.run("doctor")
    told = installed.run("grade", f"{shipped / LESSON}#linear-backward", "mine.py", "--json", status=1)
    assert "transpose" in json.loads(told)["names"]["dW"]["message"]
    assert "```{forward} practice-" in installed.run(
        "practice", "draw", "--level", "1", "--wanted", "mean", "--seed", "3"
    )
    assert "1 lesson, 2 exercises, 0 errors" in installed.run("check", "course/99-more/01-mine.md", "--no-mutants")
    with installed.serving("preview", "course/99-more/01-mine.md") as (learner, _):
        assert "Preview of /lessons/mine" in learner.get("/preview")[1]
        assert "<h1>Mine</h1>" in learner.get("/lessons/mine")[1]
    assert installed.files() == before


@pytest.mark.prove
def test_an_installed_course_is_not_edited_in_place(installed: Installed) -> None:
    before = installed.files()
    shipped = installed.packages / "app" / "_share" / "lessons"

    for words in (("new", shipped / "99-more/01-mine.md"), ("preview", shipped / LESSON), ("course", shipped / "more")):
        assert "belongs to the installed package" in installed.run(*words, status=2).replace("It belongs", "belongs")
    assert "backhand course DIR" in installed.run("check", shipped / "0-start/unit.md", status=2)
    assert installed.files() == before
