"""Sentences and codes for what is seen while a submission runs rather than in a wrong tensor, so that wording is one.

| code | row of the catalogue |
|---|---|
| `error:KIND` | 1, 46 |
| `missing`, `not-a-tensor` | 2 |
| `dtype` | 3 |
| `size-hard-coded`, `here-only` | 22 |
| `shape` | 6 |
| `aliased` | 41 |
| `mutated`, `overwritten` | 42 |
| `stale` | 43 |
| `order` | 44 |
| `unstable` | 47 |

Row 54 is the gate's, row 55 the comparison's (`exact`, `approx`, `maxdiff`), row 57 that of the boxes for checks.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from app.grading.diagnosis.evidence import Diagnosis

ALIKE = 0.8


def missing(
    name: str, others: Sequence[str] = (), compared: tuple[int, str] | None = None, unnamed: int | None = None
) -> Diagnosis:
    """No tensor of that name was left; one of *others* that was, and looks alike, is mentioned.

    Args:
        compared: The line that reads `name == value` or `name: value`, and that sign.
        unnamed: A line that computes something and keeps it nowhere.
    """
    if compared is not None:
        line, sign = compared
        what = f"compares `{name}`, with `==`;" if sign == "==" else f"writes `:` behind `{name}`;"
        return _of(name, "missing", f"Line {line} {what} one `=` assigns it.")
    alike = [one for one in others if one.lower() == name.lower()] or get_close_matches(name, others, 1, ALIKE)
    hint = f" There is a `{alike[0]}`; capital and small letters count." if alike else ""
    if unnamed is not None and not alike:
        hint = f" Line {unnamed} computes something and gives it no name; a line `{name} = …` is wanted."
    return _of(name, "missing", f"No tensor called `{name}` was left when the code ended.{hint}")


def not_a_tensor(name: str, kind: str) -> Diagnosis:
    """*kind* is the name of the Python type that was found."""
    said = f"`{name}` is a Python `{kind}`, not a tensor; a gradient is a tensor, in the shape of the one it belongs to"
    more = " A comma makes a tuple of several values; decimals stand behind a point, `0.5`." if kind == "tuple" else ""
    return _of(name, "not-a-tensor", f"{said}.{more}")


def unfit(name: str, reason: str) -> Diagnosis:
    """*reason* is what the jail says of a value that it did not send: `dtype torch.float16, shape (2,)`."""
    word, _, rest = reason.partition(" ")
    if word == "dtype":
        dtype = rest.partition(",")[0].removeprefix("torch.")
        return _of(name, "dtype", f"`{name}` holds `{dtype}` numbers; a gradient has the number type of its tensor.")
    if word == "too":
        shape = rest.removeprefix("large: shape ")
        return _of(name, "shape", f"`{name}` has shape `{shape}`; a gradient has the shape of its tensor.")
    return _of(name, "not-a-tensor", f"`{name}` is not a plain tensor, but one of {word} `{rest}`.")


def wrong_dtype(name: str, dtype: str, right: bool) -> Diagnosis:
    """*right* says whether the numbers are, apart from their type."""
    kind = {"i": "integers", "u": "integers", "b": "truth values"}.get(dtype[:1], f"`{dtype}`")
    start = "The numbers are right, but " if right else ""
    end = "a division in place would fail on it" if right else "fractions are cut off"
    return _of(name, "dtype", f"{start}`{name}` holds {kind}: {end}. A gradient holds floating-point numbers.")


def aliased(name: str, other: str, line: int | None = None) -> Diagnosis:
    """*other* changed *name* after it was finished, because both are one memory."""
    where = f" by line {line}" if line else ""
    message = (
        f"`{name}` was changed{where} after it was finished: `{other}` is the same memory. Give one of them its own "
        "copy."
    )
    return _of(name, "aliased", message)


def mutated(name: str, tensor: str, line: int | None = None, *, kind: str = "forward tensor") -> Diagnosis:
    """The given *tensor* was edited in place on the way to *name*; *kind* says what it is."""
    where = f"Line {line} edits" if line else "The code edits"
    return _of(
        name,
        "mutated",
        f"{where} the {kind} `{tensor}` itself; every later line reads the edited values. Write the result to a new "
        f"name, or begin with `{tensor}.clone()`.",
    )


def overwritten(name: str, given: str, line: int, reader: int | None) -> Diagnosis:
    """*line* bound the *given* name to other values, and the line *reader* on the way to *name* reads those."""
    reads = "a later line" if reader is None else f"line {reader}"
    return _of(
        name,
        f"overwritten:{given}",
        f"Line {line} overwrites `{given}`, which is given, and {reads} reads what now stands there. "
        f"Give the result of line {line} a name of its own.",
    )


def stale(name: str, times: int) -> Diagnosis:
    """A function of the learner's was called *times* times, and each call added to what the one before had left."""
    return _of(
        name,
        "stale",
        f"`{name}` is exactly {times} times too large: the same call stands {times} times in the code, and each adds "
        "to what the one before left. Clear the buffer first, or call once.",
    )


def wrong_order(name: str, gradient: str, line: int, later: int) -> Diagnosis:
    """*line* reads *gradient*, which the line *later* still adds to."""
    return _of(
        name,
        "order",
        f"`{name}` was computed too early: line {line} reads `{gradient}` before line {later} has added its share. A "
        "gradient is passed on when it is finished.",
    )


def unstable(name: str, text: str, inner: str) -> Diagnosis:
    """The exponential *text* of *inner* overflows."""
    return _of(
        name,
        "unstable",
        f"`{name}` is not finite: `{text}` overflows, because `{inner}` holds numbers that are too large for it. "
        "Subtract the row maximum before exp.",
    )


def stopped(name: str, kind: str, line: int | None, said: str) -> Diagnosis:
    """*kind* is the word of the error, such as `matmul`; *said* the whole of it."""
    where = "The code" if line is None else f"Line {line}"
    return _of(name, f"error:{kind}", f"{said} {where} stopped there, before `{name}` was finished.")


def only_here(name: str) -> Diagnosis:
    text = f"`{name}` is a gradient on the lesson's sizes but not on hidden ones; does it depend on a written-out size?"
    return _of(name, "size-hard-coded", text)


def wrong_here(name: str) -> Diagnosis:
    return _of(
        name,
        "here-only",
        f"`{name}` is right on the hidden data and wrong on the lesson's own numbers: the line does something else "
        "here than there. A rule is the same for all data.",
    )


def stops_elsewhere(name: str, line: int | None, kind: str) -> Diagnosis:
    """*kind* is that of the error that stopped *line* on hidden sizes; its text may tell them."""
    return _of(
        name,
        "size-hard-coded",
        f"It runs on the lesson's data but not on others, where line {line} stops with `{kind}`. "
        "Take sizes from the tensors or the named dims: they differ there, and not every index occurs.",
    )


def _of(name: str, code: str, message: str) -> Diagnosis:
    return Diagnosis(code=f"{name}:{code}", message=message)
