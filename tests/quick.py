"""Names the tests that belong to what changed since `main`: those that import a changed module, or stand beside it.

`make quick` runs them. What they do not cover, `make test` does.
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = {"templates": "tests/web/routes", "static": "tests/web/test_assets.py", "lessons": "tests/content"}
"""What has no module of its own, and where it is shown first."""
ASKED = ("diff --name-only main...HEAD", "diff --name-only HEAD", "ls-files --others --exclude-standard")


def changed() -> set[str]:
    """The files that differ from `main`, committed or not."""
    found: set[str] = set()
    for one in ASKED:
        run = subprocess.run(["git", *one.split()], cwd=ROOT, capture_output=True, text=True, check=True)
        found |= set(run.stdout.splitlines())
    return {one for one in found if (ROOT / one).exists()}


def tests_of(file: str) -> set[str]:
    path = Path(file)
    if path.parts[0] == "tests":
        return {file} if path.name.startswith("test_") else set()
    if path.parts[0] != "app" or path.suffix != ".py":
        return {place for top, place in BESIDE.items() if path.parts[0] == top}
    named = re.compile(rf"from {'.'.join(path.parts[:-1])}(?:\.{path.stem} | import .*\b{path.stem}\b)")
    room = (ROOT / "tests" / path.parts[1]).rglob("test_*.py")
    importing = {str(one.relative_to(ROOT)) for one in room if named.search(one.read_text("utf-8"))}
    mirrored = Path("tests", *path.parts[1:-1], f"test_{path.name}")
    beside = {str(mirrored)} if (ROOT / mirrored).exists() else set()
    return beside | importing or {str(mirrored.parent)}


if __name__ == "__main__":
    print(*sorted({test for file in changed() for test in tests_of(file)}))
