"""`make release` on a repository of its own: it says what is in the way, and what it did."""

import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest
from typer.main import get_command

from app.cli import app
from app.settings import PREFIX, Settings
from deploy.release import RELEASED, ReleaseError, git, release, released

ROOT = Path(__file__).resolve().parents[1]

TODAY = date(2026, 12, 1)
WRITTEN = "# Changelog\n\n## Unreleased\n\n- **Feature**: it is there.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(WRITTEN)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\ndependencies = []\n')
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        git(tmp_path, "config", name, value)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "begin")
    return tmp_path


def ends_with(status: int) -> list[str]:
    return [sys.executable, "-c", f"raise SystemExit({status})"]


def test_a_release_has_its_heading_version_commit_and_tag(repository: Path) -> None:
    said: list[str] = []
    release(repository, "1.0.0", TODAY, said.append, [ends_with(0)])

    assert (repository / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## Unreleased\n\n## [1.0.0] - 2026-12-01\n\n- **Feature**: it is there.\n"
    )
    assert 'version = "1.0.0"\n' in (repository / "pyproject.toml").read_text()
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "log", "-1", "--format=%s") == "release: 1.0.0"
    assert git(repository, "tag", "--points-at", "HEAD") == "v1.0.0"
    assert "tagged v1.0.0" in said[-2]


def test_a_release_whose_tests_fail_has_no_tag_and_can_be_tried_again(repository: Path) -> None:
    with pytest.raises(ReleaseError, match="nothing is tagged"):
        release(repository, "1.0.0", TODAY, print, [ends_with(1)])
    assert git(repository, "tag") == ""

    git(repository, "commit", "--all", "--quiet", "--message", "mend")
    release(repository, "1.0.0", TODAY, print, [ends_with(0)])
    assert git(repository, "tag", "--points-at", "HEAD") == "v1.0.0"
    assert (repository / "CHANGELOG.md").read_text().count("## [1.0.0]") == 1


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "", "1.0.0rc1"])
def test_what_is_no_version_is_named(repository: Path, version: str) -> None:
    with pytest.raises(ReleaseError, match="is no version"):
        release(repository, version, TODAY, print, [])


def test_what_is_not_committed_is_in_the_way(repository: Path) -> None:
    (repository / "new.py").touch()

    with pytest.raises(ReleaseError, match=r"new\.py"):
        release(repository, "1.0.0", TODAY, print, [])


def test_a_version_is_released_once(repository: Path) -> None:
    release(repository, "1.0.0", TODAY, print, [])

    with pytest.raises(ReleaseError, match=r"v1\.0\.0 is there already"):
        release(repository, "1.0.0", TODAY, print, [])


@pytest.mark.parametrize(
    ("changelog", "said"),
    [
        ("# Changelog\n\n## Unreleased\n", "nothing under its heading"),
        ("# Changelog\n\n## Unreleased\n\n## [1.0.0] - 2026-12-01\n\n- First.\n", "nothing under its heading"),
        ("# Changelog\n\n## Unreleased\n\n- More.\n\n## [2.0.0] - 2026-12-01\n", "2.0.0 already"),
    ],
)
def test_a_changelog_that_does_not_fit_is_said(changelog: str, said: str) -> None:
    with pytest.raises(ReleaseError, match=said):
        released(changelog, "1.1.0", TODAY)


def test_every_release_is_told_by_feature_in_the_six_groups() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released_entries = re.split(r"^## \[", changelog, flags=re.MULTILINE)[1:]

    assert released_entries
    for entry in released_entries:
        assert re.match(r"\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}\n", entry)
        groups = re.findall(r"^### (.*)$", entry, re.MULTILINE)
        assert set(groups) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
        bullets = re.findall(r"^- (.*)$", entry, re.MULTILINE)
        assert 0 < len(bullets) <= 30
        assert [bullet for bullet in bullets if not bullet.startswith("**")] == []


def test_what_the_changelog_names_as_a_command_or_a_file_is_there() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", changelog.partition("**Command line**")[2].partition("\n- ")[0]))

    assert named
    assert named <= vars(get_command(app))["commands"].keys()
    assert {f"{PREFIX}{name}".upper() for name in Settings.model_fields} >= set(re.findall(r"BACKHAND_\w+", changelog))
    for path in ("ACCESSIBILITY.md", "SECURITY.md", "docs/operating.md", "deploy/space"):
        assert path in changelog
        assert (ROOT / path).exists()


def test_one_file_alone_says_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["version"] in RELEASED.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))
    for folder, pattern in (("app", "*.py"), ("templates", "*.html"), ("deploy", "*.yaml"), (".", "Dockerfile")):
        for file in (ROOT / folder).rglob(pattern) if folder != "." else [ROOT / pattern]:
            assert not re.search(rf"(?<![\d.]){re.escape(project['version'])}(?![\d.])", file.read_text("utf-8")), file
