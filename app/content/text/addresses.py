"""Addresses of pages, from the names of lesson files."""

import re
from posixpath import basename, normpath

LESSON_FILE = re.compile(r"(?:.*/)?(?:\d+-)?([a-z0-9][a-z0-9-]*)\.md$")
UNIT_FILE = re.compile(r"(?:\d+-)?([a-z0-9][a-z0-9-]*)/unit\.md$")


def lesson_slug(path: str) -> str:
    """`2-tensors/07-matmul.md` is `matmul`; empty where the name is no lesson's."""
    match = LESSON_FILE.match(path)
    return match[1] if match else ""


def page_url(source: str, target: str) -> str:
    """The address of the page of the lesson file *target*, as it is written in *source*; empty where it is none."""
    path = normpath(f"{source.rpartition('/')[0] or '.'}/{target}")
    unit = UNIT_FILE.search(path)
    if unit:
        return f"/units/{unit[1]}"
    slug = lesson_slug(basename(path))
    return f"/lessons/{slug}" if slug and slug != "unit" else ""
