"""Reasons why a database cannot be used, as a sentence for the operator: what was seen, and what to change."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from sqlalchemy import make_url

FIRST_RELEASED = "0010"
"""The revision of the first release; of those before it, which were never released, the last is brought along."""


def unusable_reason(url: str, error: Exception) -> str:
    """Explain the *error* that the database at *url* raised when it was prepared."""
    message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0].rstrip(".")
    tell = next((tell for part, tell in _TOLD.items() if part in message), None)
    return tell(url, message) if tell else f"{message}."


def version_word(revision: str) -> str:
    """Describe the version that wrote a database at the unknown *revision*, with its article."""
    return "an unreleased" if revision < FIRST_RELEASED else "a newer"


def _unknown_revision(_url: str, message: str) -> str:
    match = re.search(r"by '(.{0,200})'", message)
    revision = match[1] if match else "unknown"
    return (
        f"{version_word(revision)} version of Backhand has written it (revision {revision}). "
        "Start that version again, or restore a copy from before it."
    )


def _driver(url: str, _said: str) -> str:
    name = make_url(url).drivername
    known = "postgresql+psycopg" if name.startswith("postgres") else "sqlite+aiosqlite"
    return f"its URL begins with {name}://, which has no driver here. Write {known}://…"


def _not_installed(_url: str, message: str) -> str:
    return f"{message}. Install Backhand with it: pip install '.[postgres]'."


def _not_writable(url: str, message: str) -> str:
    database = make_url(url)
    if database.query.get("mode") == "ro":
        return f"{message}. Its URL opens it only to be read: leave out mode=ro."
    path = Path((database.database or "").removeprefix("file:")).absolute()
    there = next(item for item in (path, *path.parents) if item.exists())
    if not hasattr(os, "statvfs"):  # Windows
        return f"{path} cannot be opened ({message}). Set BACKHAND_DATA_DIR to a folder that you may write to."
    if os.statvfs(there).f_flag & os.ST_RDONLY or "Read-only" in message:
        return (
            f"{path} cannot be written ({message}): {there} is on a file system that is mounted read-only. "
            "Mount it to be written to, or set BACKHAND_DATA_DIR to a folder elsewhere."
        )
    return (
        f"{path} cannot be opened by user {os.geteuid()} ({message}); {there} belongs to user {there.stat().st_uid}. "
        f"Give it to that user (chown -R {os.geteuid()} {there}), or set BACKHAND_DATA_DIR to a folder of that user."
    )


_TOLD: Mapping[str, Callable[[str, str], str]] = {
    "Can't locate revision": _unknown_revision,
    "requires an async driver": _driver,
    "Can't load plugin": _driver,
    "No module named 'psycopg": _not_installed,
    "unable to open database file": _not_writable,
    "Permission denied": _not_writable,
    "Read-only file system": _not_writable,
    "readonly database": _not_writable,
}
