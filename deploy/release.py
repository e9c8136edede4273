"""`make release VERSION=1.2.0`: what a release needs, step by step, each said when it is done.

Whatever is missing is named before anything is changed. A step that is done already, such as the heading, is left as it
is, so that a release whose tests failed can be tried again. Nothing leaves this machine:
pushing and uploading are yours.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

VERSION = re.compile(r"\d+\.\d+\.\d+")
UNRELEASED = "## Unreleased\n"
RELEASED = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", re.MULTILINE)
PROJECT = re.compile(r'^version = "(.*)"$', re.MULTILINE)
COMMANDS: tuple[Sequence[str], ...] = (("make", "test"), ("make", "wheel"))


class ReleaseError(Exception):
    """The release cannot be made; the text says what to do."""


def parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def released(changelog: str, version: str, today: date) -> str:
    """*changelog* with what is unreleased under the heading of *version*, and an empty place for what comes.

    Raises:
        ReleaseError: There is nothing to release, or a newer version is there.
    """
    versions = RELEASED.findall(changelog)
    if version in versions:
        return changelog
    if newer := [other for other in versions if parts(other) >= parts(version)]:
        raise ReleaseError(f"CHANGELOG.md has {newer[0]} already, which is newer than {version}.")
    before, found, after = changelog.partition(UNRELEASED)
    if not found or after.lstrip().startswith("## ") or not after.strip():
        raise ReleaseError("CHANGELOG.md has nothing under its heading Unreleased. Write what users notice.")
    return f"{before}{UNRELEASED}\n## [{version}] - {today.isoformat()}\n{after}"


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def release(
    root: Path, version: str, today: date, say: Callable[[str], None], commands: Sequence[Sequence[str]] = COMMANDS
) -> None:
    """Release what is in *root* as *version*.

    Raises:
        ReleaseError: Something is in the way of it.
    """
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version. Give three numbers: make release VERSION=1.2.0")
    if changed := git(root, "status", "--porcelain"):
        raise ReleaseError(f"Not everything is committed:\n{changed}")
    if git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"The tag v{version} is there already. Choose the next version.")
    changelog, project = root / "CHANGELOG.md", root / "pyproject.toml"
    texts = {
        changelog: released(changelog.read_text("utf-8"), version, today),
        project: PROJECT.sub(f'version = "{version}"', project.read_text("utf-8"), count=1),
    }
    for file, text in texts.items():
        file.write_text(text, "utf-8")
    say(f"{project.name} and {changelog.name} say {version}.")
    for command in commands:
        if subprocess.run(command, cwd=root, check=False).returncode:
            raise ReleaseError(f"{' '.join(command)} failed. Mend it, commit, and release again; nothing is tagged.")
        say(f"{' '.join(command)}: done.")
    if git(root, "status", "--porcelain"):
        git(root, "commit", "--all", "--message", f"release: {version}")
    git(root, "tag", "--annotate", f"v{version}", "--message", f"Backhand {version}")
    say(f"Committed as {git(root, 'rev-parse', '--short', 'HEAD')} and tagged v{version}.")
    say("Left to you: git push --follow-tags, and the files in dist/.")


def main(words: Sequence[str]) -> None:
    try:
        release(Path(__file__).resolve().parents[1], "".join(words), datetime.now(UTC).date(), print)
    except ReleaseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
