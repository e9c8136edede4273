"""Whether all attacks were tried as both users since anything changed that their end depends on.

`make prove` tries all of them and keeps a digest; where it is the same, `make test` tries a twelfth, by turns. It is
another one with another Python, a kernel of another series, or one that can confine more or less.
"""

import os
import platform
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from app.sandbox import landlock, seccomp

HERE = Path(__file__).parent
FILE = HERE / "proved.txt"
ROOT = HERE.parents[1]
PLACES = (
    ROOT / "app" / "sandbox",
    ROOT / "app" / "bindings.py",
    ROOT / "app" / "notations.py",
    ROOT / "app" / "syntax.py",
    ROOT / "app" / "content" / "text" / "lookalikes.py",
    ROOT / "constraints.txt",
    HERE,
)
"""The jail with all that it imports, the versions of what runs in it, and the attacks with what tries them."""


def sources(places: Iterable[Path] = PLACES) -> Iterator[Path]:
    for place in places:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (one for one in files if one.suffix in {".py", ".md", ".txt"} and one != FILE)


def machine() -> str:
    """What of a machine decides what a jail can do there; patches of a kernel mend it, and leave its calls alone."""
    series = ".".join(platform.release().split(".")[:2])
    try:
        confines = landlock.abi()
    except OSError:
        confines = 0
    named = f"{platform.machine()} {series} {sys.version_info[:3]} landlock {confines}"
    return f"{named} seccomp {seccomp.missing_seccomp() is None} root {os.geteuid() == 0}"


def digest(places: Iterable[Path] = PLACES) -> str:
    together = sha256(machine().encode())
    for file in sources(places):
        together.update(file.name.encode() + file.read_bytes())
    return together.hexdigest()


def are_proved(file: Path = FILE) -> bool:
    return file.exists() and file.read_text("utf-8").strip() == digest()


def keep(file: Path = FILE) -> None:
    file.write_text(f"{digest()}\n", "utf-8")
