"""Which sources judge here, as a digest: what was found by others may be found otherwise now. Imports nothing heavy."""

from functools import cache
from hashlib import sha256

from app.installation import PACKAGE, version

JUDGES = ("grading", "engine", "sandbox", "content", "syntax.py", "bindings.py", "notations.py", "phrases.toml")
"""What decides what is said of a text: rooms and single files."""
SOURCES = frozenset({".py", ".toml"})


@cache
def sources_digest(places: tuple[str, ...] = JUDGES) -> bytes:
    """A digest of the sources in *places*, of everything that judges if none are given."""
    together = sha256()
    for place in map(PACKAGE.joinpath, places):
        files = sorted(file for file in place.rglob("*") if file.suffix in SOURCES) if place.is_dir() else [place]
        for file in files:
            together.update(file.read_bytes())
    return together.digest()


@cache
def grading_version() -> str:
    """Of what judges here: the release, and a mark of its sources."""
    return f"{version()}+{sources_digest().hex()[:8]}"
