"""Reads a shape as people write it: `(5,)`, `5`, `[5]`, `5,3`, `32x64`, `()`, `(H, ?)`. Total on any text."""

import re

BRACKETS = {"(": ")", "[": "]", "{": "}"}
LONGEST = 120
MOST_AXES = 8


class UnreadableShapeError(ValueError):
    """The text is no shape."""


def sizes_in(text: str) -> tuple[str, ...]:
    """The sizes of a shape as they are written: numbers, names or `?`.

    Raises:
        UnreadableShapeError: Nothing else is ever raised.
    """
    if len(text) > LONGEST:
        raise UnreadableShapeError("That is too long for a shape.")
    plain = text.strip()
    plain = re.sub(r"^(?:torch\.)?Size\s*", "", plain)
    plain = plain.rstrip(".") if plain.rstrip(".") else plain
    stripped = False
    while plain and BRACKETS.get(plain[0]) == plain[-1] and len(plain) >= 2:
        plain, stripped = plain[1:-1].strip(), True
    if not plain:
        if stripped:
            return ()
        raise UnreadableShapeError("Nothing is written there.")
    if re.search(r"[()\[\]{}]", plain):
        raise UnreadableShapeError("Its brackets do not match.")
    plain = " ".join(plain.rstrip(",; ").split())
    sizes = re.split(" ?[,;×*] ?|(?<=[0-9]) ?[xX] ?(?=[0-9?])|(?<=[A-Za-z?]) [xX] (?=\\w)| (?:by )?", plain)
    if not all(re.fullmatch(r"\?|_+|\d{1,9}|[^\W\d]\w*", size) for size in sizes):
        raise UnreadableShapeError("It should be sizes separated by commas, such as (32, 64).")
    if len(sizes) > MOST_AXES:
        raise UnreadableShapeError(f"It has more than {MOST_AXES} axes.")
    return tuple("?" if set(size) <= {"_"} else str(int(size)) if size.isdigit() else size for size in sizes)
