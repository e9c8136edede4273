"""Seeds of hidden numbers: from the lesson's text, and a secret that only this server has.

Without the secret, every server would draw the same hidden inputs, and a table of answers that was computed at home
would pass on all of them. Commands that judge no one's work, `check` and the benchmarks, have none, so that they say
the same everywhere.
"""

import contextlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

FILE = "secret"
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds of the numbers of forward programs."""

    secret: bytes = b""

    def of(self, content: object, data_set: str, *, hidden: bool) -> str:
        """The seed of the *data_set* of the program with *content* (JSON values).

        What is shown is the same for all learners. What is hidden may one day differ by class and learner as well: they
        would belong into the text below.
        """
        text = json.dumps(content, sort_keys=True).encode()
        drawn = hmac.digest(self.secret, text, "sha256") if hidden and self.secret else sha256(text).digest()
        return f"{drawn.hex()}/{data_set}"

    def pseudonym(self, about: str) -> str:
        """Pseudonym of *about*: the same each time, and known to this server alone.

        Raises:
            ValueError: There is no secret, without which it could be guessed.
        """
        if not self.secret:
            raise ValueError("a pseudonym needs a secret")
        return hmac.digest(self.secret, f"pseudonym\0{about}".encode(), "sha256").hex()[:16]

    def value_key(self, digest: bytes) -> str:
        """Key of hidden numbers with this *digest*. Without the secret the numbers cannot be found by trying."""
        return hmac.digest(self.secret, b"value\0" + digest, "sha256").hex()[:16]

    @property
    def mark(self) -> str:
        """Cache key of stored answers, so that none outlives the secret; it does not reveal the secret."""
        return hmac.digest(self.secret, b"mark", "sha256").hex() if self.secret else ""


class SecretError(Exception):
    """The file holds no secret; its text tells the operator what to do."""


PUBLIC = Seeds()
"""The same everywhere."""


def seeds_in(folder: Path) -> Seeds:
    """The seeds of the server whose data are in *folder*; its secret is made where there is none yet.

    Raises:
        OSError: The file cannot be read or made.
        SecretError: It is too short: with an empty one the hidden numbers would be known to all.
    """
    path = folder / FILE
    folder.mkdir(parents=True, exist_ok=True)
    drawn = path.with_name(f"{FILE}.{os.getpid()}")
    if not path.exists():
        drawn.touch(0o600)
        drawn.write_bytes(secrets.token_bytes(_BYTES))
        # Whole or not at all, and the first of two servers that begin at once is the one that counts.
        with contextlib.suppress(FileExistsError):
            os.link(drawn, path)
        drawn.unlink()
    secret = path.read_bytes()
    if len(secret) < _BYTES:
        raise SecretError(
            f"The secret of this server, {path}, has {len(secret)} bytes; it should have {_BYTES}. Restore it from a "
            "backup, or delete it: then a new one is made, and hidden numbers are drawn anew."
        )
    return Seeds(secret)


def write_secret(folder: Path, secret: bytes) -> None:
    """Have the seeds in *folder*, which has none yet, drawn under *secret*."""
    path = folder / FILE
    path.touch(0o600, exist_ok=False)
    path.write_bytes(secret)
