"""What README and docs tell is so: each command in them works, each link leads somewhere, each setting is there."""

import asyncio
import re
import shlex
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from app.cli import app, grade, grader, practice, proving, serve
from app.settings import Settings
from app.store.migrate import migrate
from tests.graders import SharedGraders

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "lessons" / "README.md"],
    key=lambda page: page.relative_to(ROOT).as_posix(),
)
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WRITES = re.compile(r"backhand new (lessons/\S+?\.md)")
NAMED_LESSON = re.compile(r"lessons/(\d-[\w-]+)/(\d\d-[\w-]+\.md)")
VARIABLE = re.compile(r"\bBACKHAND_([A-Z_]+)")
PICTURE = ROOT / "static" / "readme" / "backhand.svg"
MOTION = re.compile(r"\n    @media \(prefers-reduced-motion.*?(?=  </style>)", re.DOTALL)
LAYER = "lessons/2-tensors/10-a-layer-trained.md"
ELSEWHERE = {
    "backhand doctor": "tests/cli/test_doctor.py::test_a_sound_machine_passes_with_every_attack_stopped",
    "uvx --torch-backend cpu --from dist/backhand-*.whl backhand":
        "tests/test_wheel.py::test_an_installed_copy_serves_from_an_empty_folder",
    "pipx install dist/backhand-*.whl": "tests/test_wheel.py::test_an_installed_copy_grades_draws_checks_and_previews",
    "docker compose -f deploy/compose.yaml up":
        "tests/test_deployment.py::test_composed_containers_are_as_confined_as_the_single_one",
    "backhand items --class 4": "tests/cli/test_items.py::test_a_class_is_asked_for_by_its_number",
    "nats-server -c deploy/nats.conf": "tests/engine/pool/test_broker_graders.py::test_every_question_is_answered",
}  # fmt: skip
"""What is tried in another room, with its own programs."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(page: Path) -> list[str]:
    """The commands of *page* in their order, without what is said of them."""
    lines = [line for block in BLOCK.findall(page.read_text("utf-8")) for line in block.splitlines()]
    spoken = (re.sub(r"\s+# .*$", "", line.removeprefix("$ ")) for line in lines)
    return [command for line in spoken for command in re.split(" && ", line) if command]


def anchors(page: Path) -> set[str]:
    """What a heading is called in an address: as GitHub does it."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page: Path) -> list[str]:
    """Where links and pictures of *page* lead within this project."""
    inline = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    parts = [part for token in inline for part in token.children or ()]
    found = [str(part.attrGet("href") or part.attrGet("src") or "") for part in parts]
    found += re.findall(
        r'(?:src|srcset)="([^"]*)"', "".join(token.content for token in inline if token.type == "html_block")
    )
    return [link for link in found if link and not link.startswith(("http:", "https:", "mailto:"))]


@pytest.fixture
def folder(graders: SharedGraders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands are given: a course, a submission, a roster and a database; servers start and do not stay."""
    leads_elsewhere = shutil.ignore_patterns("02-*")
    shutil.copytree(ROOT / "lessons" / "0-start", tmp_path / "lessons" / "0-start", ignore=leads_elsewhere)
    (tmp_path / "my.py").write_text("dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n")
    (tmp_path / "students.csv").write_text("name;id\nBob;1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path / "var"))
    asyncio.run(migrate(Settings().resolved_database_url))
    for module in (grade, practice, proving):
        monkeypatch.setattr(module, "LocalGraders", lambda *_, **__: graders)
    monkeypatch.setattr(serve, "serve_web", lambda *_, **__: None)
    monkeypatch.setattr(grader, "_serve", _nothing)
    return tmp_path


async def _nothing(*_: object) -> None:
    pass


def given(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give *command* as a shell would; a date in it is one that is still to come."""
    words = shlex.split(re.sub(r"\b20\d\d-", f"{datetime.now(UTC).year + 1}-", command))
    with monkeypatch.context() as patched:
        while "=" in words[0]:
            patched.setenv(*words.pop(0).split("=", 1))
        target = Path(words[-1]) if words[-2:-1] == [">"] else None
        words = words[1:-2] if target else words[1:]
        layer = folder / LAYER
        if LAYER in command:  # what it requires is not here, so that it is no part of the course
            layer.parent.mkdir()
            shutil.copy(ROOT / LAYER, layer)
        done = CliRunner().invoke(app, words)
        if LAYER in command:
            shutil.rmtree(layer.parent)
    assert done.exit_code == 0, f"{command}: {done.output}{done.exception or ''}"
    if target:
        target.write_text(done.stdout, "utf-8")


@pytest.mark.in_turn(turns=3, places=("docs", "app/cli"))
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_every_command_of_a_page_works(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(page):
        plain = command.removeprefix(".venv/bin/")
        if plain in ELSEWHERE:
            file, _, test = ELSEWHERE[plain].partition("::")
            assert f"def {test}(" in (ROOT / file).read_text("utf-8")
        elif plain.startswith("export "):
            monkeypatch.setenv(*plain.removeprefix("export ").split("=", 1))
        elif plain.startswith("make "):
            words = shlex.split(plain)
            subprocess.run([*words, "--dry-run"], cwd=ROOT, capture_output=True, check=True)
        else:
            assert re.match(r"([A-Z_]+=\S+ )*(\.venv/bin/)?backhand ", command), f"nothing tries {command}"
            given(command, folder, monkeypatch)


@pytest.mark.parametrize("page", [page for page in PAGES if WRITES.search(page.read_text("utf-8"))], ids=name_of)
def test_a_lesson_that_a_page_begins_finds_a_place_in_the_course(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "lessons", folder / "lessons", dirs_exist_ok=True)
    text = page.read_text("utf-8")
    (path,) = set(WRITES.findall(text))

    for command in [command for command in commands(page) if path in command] or [f"backhand new {path}"]:
        given(command, folder, monkeypatch)

    assert (folder / path).is_file()


def test_no_page_and_no_help_gives_a_lesson_a_number_that_is_taken() -> None:
    taken = {path.name: path.parent.name for path in ROOT.glob("lessons/*/??-*.md")}
    numbers = {(unit, name[:2]) for name, unit in taken.items()}
    named = [
        (page.name, *found)
        for page in [*PAGES, *ROOT.glob("app/cli/*.py")]
        for found in NAMED_LESSON.findall(page.read_text("utf-8"))
    ]

    assert len(named) > 8
    assert [
        (page, unit, name) for page, unit, name in named if taken.get(name) != unit and (unit, name[:2]) in numbers
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    dead = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)

    assert dead == []


def test_the_index_names_every_page_of_the_docs() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")

    assert [
        page.name for page in ROOT.glob("docs/*.md") if page.stem != "README" and f"({page.name})" not in index
    ] == []


def test_every_setting_has_one_row_and_every_row_a_setting() -> None:
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.MULTILINE)
    named = [name.lower() for names, _ in rows for name in VARIABLE.findall(names)]

    assert sorted(named) == sorted(Settings.model_fields)


def test_a_default_that_is_a_number_is_the_one_that_is_told() -> None:
    rows = re.findall(r"^\| `BACKHAND_(\w+)` \| `(\d+)` \|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)

    assert len(rows) > 8
    assert {name: int(told) for name, told in rows} == {
        name: int(Settings.model_fields[name.lower()].default) for name, _ in rows
    }


def test_the_first_lesson_is_open_within_one_screen() -> None:
    before, _, rest = (ROOT / "README.md").read_text("utf-8").partition("/lessons/ten-minutes")

    assert rest
    assert len(before.splitlines()) <= 18
    assert len((before + rest).splitlines()) <= 70


class TestPicture:
    def test_it_asks_for_nothing_and_runs_nothing(self) -> None:
        text = PICTURE.read_text("utf-8")

        assert not re.search(r"<script|<image|<foreignObject|url\(|@import|\bon\w+=|href=", text)
        assert re.findall(r"https?://\S+", text) == ['http://www.w3.org/2000/svg"']

    def test_it_stands_still_for_whoever_wants_that(self) -> None:
        still = MOTION.sub("\n", PICTURE.read_text("utf-8"))
        assert PICTURE.with_name("backhand-still.svg").read_text("utf-8") == still

        style = ElementTree.parse(PICTURE).findtext(".//{*}style") or ""
        moving, _, _ = style.partition("prefers-reduced-motion: no-preference")[2].partition("@keyframes")

        assert style.count("animation: ") == moving.count("animation: ") > 5

    @pytest.mark.parametrize(("line", "passed"), [("dW = dY.T @ X", False), ("dW = X.T @ dY", True)])
    def test_what_it_tells_of_a_line_is_what_the_grader_says(self, folder: Path, line: str, passed: bool) -> None:
        shown = " ".join("".join(ElementTree.parse(PICTURE).getroot().itertext()).split())
        (folder / LAYER).parent.mkdir()
        shutil.copy(ROOT / LAYER, folder / LAYER)
        (folder / "shown.py").write_text(f"dX = dY @ W.T\n{line}\ndb = dY.sum(0)\n")

        done = CliRunner().invoke(app, ["grade", f"{LAYER}#linear-backward", "shown.py"])

        assert line in shown
        assert (done.exit_code == 0) is passed
        said = re.search(r"This is [^\n]+", done.output)
        assert passed or (said and said[0].replace("`", "").strip() in shown)

    def test_what_it_says_at_the_end_is_what_the_lesson_says(self) -> None:
        last = ElementTree.parse(PICTURE).getroot().findall(".//*[@class='passed']/*")[-1].text

        assert last
        assert last in " ".join((ROOT / LAYER).read_text("utf-8").split())
