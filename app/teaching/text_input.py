"""One line of text input: a name, an id, a reason. And the message for one that cannot be used."""

from unicodedata import bidirectional, category, combining, normalize

LONGEST_NAME = 80
LONGEST_LINE = 200
LONGEST_READ = 1000
TURNING = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})
NO_NAME = "Write a name: it is how your instructor finds you in the list."
UNMARKED = str.maketrans("łøđıæœ", "lodiao")
"""Letters whose mark is no mark of its own for Unicode."""
LONG_NAME = f"A name has at most {LONGEST_NAME} characters."


def one_line(typed: str) -> str:
    """*typed* in one line, without what is not seen and what would turn the text around it.

    Of a text that is too long for all that is a line, the first `LONGEST_READ` characters: each is looked up.
    """
    cut = typed[:LONGEST_READ]
    words = (" " if category(name) in ("Cc", "Zl", "Zp") else name for name in cut if not _odd(name))
    return " ".join("".join(words).split())


def plain_letters(name: str) -> str:
    """Letters of *name* as typed and sorted without marks: `Zoë` is `zoe`, `Łukasz` is `lukasz`."""
    letters = (text for text in normalize("NFKD", name.casefold()) if not combining(text))
    return " ".join("".join(letters).translate(UNMARKED).split())


def _odd(character: str) -> bool:
    return category(character) == "Cs" or bidirectional(character) in TURNING


def name_fault(name: str) -> str:
    """Say what is wrong with a name that went through `one_line`; "" if nothing is."""
    return NO_NAME if not name else LONG_NAME if len(name) > LONGEST_NAME else ""
