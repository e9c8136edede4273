"""Sentences about one share of a gradient, and not the whole."""

from collections.abc import Sequence

from app.grading.diagnosis.naming import in_code, place_text
from app.grading.forward.statements import GradientPath

WHOLE = "`{name}`"


def of_share(say: str, path: GradientPath, sharing: Sequence[GradientPath], paths: Sequence[GradientPath]) -> str:
    """Format string *say* about the share of *path*, where it first mentions the gradient.

    Args:
        sharing: The paths of which it is so.
        paths: All paths of the tensor.
    """
    before, whole, after = say.partition(WHOLE)
    if not whole:
        return say
    places = [each for each in paths if each.statement == path.statement]
    if len(sharing) == len(places) and all(each in places for each in sharing):
        words = f"the share of {WHOLE} through {in_code(path.consumer)}"
    elif len(sharing) == 1:
        words = f"the share of {WHOLE} {escaped(place_text(path))}"
    else:
        words = f"one share of {WHOLE}"
    begins = not before or before.endswith(". ")
    return f"{before}{words[0].upper() + words[1:] if begins else words}{after}"


def escaped(text: str) -> str:
    """*text* for a format string."""
    return text.replace("{", "{{").replace("}", "}}")
