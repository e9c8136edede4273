"""Which sources judge here, as a digest: what was found by others may be found otherwise now. Imports nothing heavy."""

from functools import cache
from hashlib import sha256

from app.installation import PACKAGE, version

JUDGES = ("grading", "engine", "sandbox", "content")
"""Rooms whose sources decide what is said of a text."""


@cache
def sources_digest() -> bytes:
    """A digest of the sources of everything that judges."""
    together = sha256()
    for room in JUDGES:
        for file in sorted((PACKAGE / room).rglob("*.py")):
            together.update(file.read_bytes())
    return together.digest()


@cache
def grading_version() -> str:
    """Of what judges here: the release, and a mark of its sources."""
    return f"{version()}+{sources_digest().hex()[:8]}"
