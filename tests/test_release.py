"""`make release` on a repository of its own: it says what is in the way, and what it did."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from deploy.release import ReleaseError, git, release, released

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
