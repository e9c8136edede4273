"""The code of a class: nine characters that can be read out loud, copied from a board and typed in anyhow.

Crockford's base 32: no I, L, O and U, and what looks like a digit is read as one. Nine characters are 45 bits, too many
to guess at ten tries a minute.

Source: https://www.crockford.com/base32.html
"""

import secrets
from unicodedata import normalize

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHARACTERS = 9
LIKE_DIGITS = str.maketrans("OIL", "011")
MAX_CODE_CHARS = 100
"""More than anybody types, whatever stands between the characters."""


def fresh_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CHARACTERS))


def read_code(typed: str) -> str | None:
    """The code that was meant, whatever separates its characters; None where it can be none."""
    plain = normalize("NFKC", typed[:MAX_CODE_CHARS]).upper().translate(LIKE_DIGITS)
    code = "".join(name for name in plain if name.isalnum())
    return code if len(code) == CHARACTERS and set(code) <= set(ALPHABET) else None


def shown_code(code: str) -> str:
    """`K7Q-M2X-9DV`"""
    return "-".join(code[start : start + 3] for start in range(0, CHARACTERS, 3))
