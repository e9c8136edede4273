"""Sentences and codes for what is seen while a submission runs rather than in a wrong tensor, so that wording is one.

| code | row of the catalogue |
|---|---|
| `error:KIND` | 1, 46 |
| `not-a-tensor` | 2 |
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

from collections.abc import Mapping
from dataclasses import replace

from app.grading.diagnosis.evidence import Diagnosis
from app.grading.diagnosis.phrases import sentences_of

SAY = sentences_of("sentences")
MEANT = sentences_of("meant")
"""By the kind of Python value that was found."""
PAIRS = frozenset(
    f"torch.return_types.{name}"
    for name in ("max", "min", "median", "nanmedian", "mode", "kthvalue", "sort", "topk", "cummax", "cummin")
)
"""Kinds that hold values and their places."""


def not_a_tensor(name: str, kind: str) -> Diagnosis:
    """*kind* is the name of the Python type that was found."""
    meant = MEANT.get(kind, "").format(x=name[1:])
    return _of(name, "not-a-tensor", "pair" if kind in PAIRS else "python", kind=kind.rpartition(".")[2], meant=meant)


def unfit_value(name: str, reason: str) -> Diagnosis:
    """*reason* is what the jail says of a value that it did not send: `dtype torch.float16, shape (2,)`."""
    word, _, rest = reason.partition(" ")
    if word == "dtype":
        return _of(name, "dtype", "dtype", dtype=rest.partition(",")[0].removeprefix("torch."))
    if word == "too":
        return _of(name, "shape", "large", shape=rest.removeprefix("large: shape "))
    return _of(name, "not-a-tensor", "odd", word=word, rest=rest)


def wrong_dtype(name: str, dtype: str, right: bool) -> Diagnosis:
    """*right* says whether the numbers are, apart from their type."""
    kind = {"i": "integers", "u": "integers", "b": "truth values"}.get(dtype[:1], f"`{dtype}`")
    return _of(name, "dtype", "right-integers" if right else "integers", kind=kind)


def aliased_memory(name: str, other: str, line: int | None = None) -> Diagnosis:
    """*other* changed *name* after it was finished, because both are one memory."""
    return _of(name, "aliased", "aliased", where=f" by line {line}" if line else "", other=other)


def mutated_tensor(
    name: str, tensor: str, line: int | None = None, *, kind: str = "forward tensor", second: str = ""
) -> Diagnosis:
    """The given *tensor* was edited in place on the way to *name*, by a *second* name of it or by its own."""
    where = f"Line {line} edits" if line else "The code edits"
    if second:
        where = where[0].lower() + where[1:]
        return _of(name, "mutated", "second-name", where=where, kind=kind, tensor=tensor, second=second)
    return _of(name, "mutated", "mutated", where=where, kind=kind, tensor=tensor)


def also_wrong(diagnosis: Diagnosis, name: str) -> Diagnosis:
    """*diagnosis* of what happens to another tensor, with word that the numbers of *name* are wrong by themselves."""
    return replace(diagnosis, message=diagnosis.message + SAY["mutated-besides"].format(name=name))


def overwritten_name(name: str, given: str, line: int, reader: int | None) -> Diagnosis:
    """*line* bound the *given* name to other values, and the line *reader* on the way to *name* reads those."""
    reads = "a later line" if reader is None else f"line {reader}"
    return _of(name, f"overwritten:{given}", "overwritten", given=given, line=line, reads=reads)


def stale_state(name: str, times: int) -> Diagnosis:
    """A function of the learner's was called *times* times, and each call added to what the one before had left."""
    return _of(name, "stale", "stale", times=times)


def wrong_order(name: str, gradient: str, line: int, later: int) -> Diagnosis:
    """*line* reads *gradient*, which the line *later* still adds to."""
    return _of(name, "order", "order", gradient=gradient, line=line, later=later)


def overflowing_exponential(name: str, text: str, inner: str) -> Diagnosis:
    """The exponential *text* of *inner* overflows."""
    return _of(name, "unstable", "unstable", text=text, inner=inner)


def stopped_line(name: str, kind: str, line: int | None, message: str) -> Diagnosis:
    """*kind* is the word of the error, such as `matmul`; *message* the whole of it."""
    where = "The code" if line is None else f"Line {line}"
    ended = message if message.endswith((".", "?", "!")) else f"{message}."
    return _of(name, f"error:{kind}", "stopped", said=ended, where=where)


def only_here(name: str) -> Diagnosis:
    return _of(name, "size-hard-coded", "only-here")


def plain_difference(name: str) -> Diagnosis:
    return Diagnosis(code=f"{name}:unrecognised", message=f"`{name}` differs from the gradient.")


def wrong_here(name: str) -> Diagnosis:
    return _of(name, "here-only", "wrong-here")


def stops_elsewhere(name: str, line: int | None, kind: str, sizes: Mapping[int, str], open_hot: str = "") -> Diagnosis:
    """*kind* is that of the error that stopped *line* on hidden sizes; its text may tell them.

    Args:
        sizes: Numbers that the learner wrote as sizes, with the dims that have them here.
        open_hot: A call of `F.one_hot` that leaves the number of classes to the data.
    """
    why = "".join(SAY["written-size"].format(size=size, dim=dim) for size, dim in sizes.items())
    why += SAY["classes"].format(open_hot) if open_hot else SAY["from-tensors" if sizes else "by-luck"]
    return _of(name, "size-hard-coded", "stops-elsewhere", line=line, kind=kind, why=why)


def wrong_already(rest: Diagnosis, error: Diagnosis) -> Diagnosis:
    """Diagnosis of the lesson's own numbers, if *error* stops the line on hidden sizes as well."""
    lower = f"{error.message[:1].lower()}{error.message[1:]}"
    return replace(rest, message=SAY["wrong-already"].format(rest=rest.message, error=lower), value="")


def sizes_besides(rest: Diagnosis) -> Diagnosis:
    """Diagnosis *rest* that is left once dims replace the literal sizes."""
    return replace(rest, message=SAY["sizes-besides"].format(rest=rest.message))


def _of(name: str, code: str, say: str, **fields: object) -> Diagnosis:
    return Diagnosis.of(name, code, SAY[say], **fields)
