"""Verdict on a submission: one status per required name, and how the run as a whole ended.

These values cross to the web process as JSON, so they hold nothing but text, numbers and tuples.
"""

from dataclasses import dataclass
from typing import Literal

from app.grading.forward.facts import Outcome

Standing = Literal["right", "right-other-road", "wrong", "follows", "not-yet", "aliased", "mutated"]

UNRECOGNISED = "unrecognised"
"""The row of a diagnosis that names no mistake."""
INNOCENT, DIFFERS = "innocent", "differs"
"""Of a line that is right and was called the wrong one, and of a case that came to another value."""
OTHER_ROAD = "other-road"
"""The row of a diagnosis that is no slip: the numbers are right, and the box asks for one road."""
SHARES_MEMORY = "shares memory with"
"""How the word begins for a right name that the line of another name edits."""
NOT_BEGUN, NOT_FINISHED, NOT_JUDGED = "not begun", "not finished", "not judged"
"""Words of a gradient that is not there: no line of its own, a blank in one of its lines, a stop before it."""
RIGHT: frozenset[str] = frozenset({"right", "right-other-road"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """One of the entries that differ most: where, the learner's number, how far it is off, and its ratio."""

    index: tuple[int, ...]
    yours: float
    off: float
    ratio: float | None


STEPS = "abcdefghijkl"
NAMELESS = frozenset({UNRECOGNISED, INNOCENT, DIFFERS})


def is_nameless(key: str) -> bool:
    """True for the key of a mistake that all share who came to the same, and that neither author nor table names."""
    _, slip, value = f"{key}::".split(":", 2)
    return slip in NAMELESS and value.strip(":") != ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Yours minus the reference on the lesson's own sizes, as a map and in words.

    Args:
        rows: One text per row of the map, one character per entry: `a` to `l` for more and more too large, `A` to
            `L` for too small, `.` for the same, `?` for no number.
        largest: The difference that `l` stands for.
        shape: Of the whole tensor; all axes but the last stand below each other.
        corner: Row and column at which the map begins, where it is a part.
        pattern: What the map shows, in one sentence.
    """

    rows: tuple[str, ...]
    largest: float
    shape: tuple[int, ...]
    corner: tuple[int, int] = (0, 0)
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameVerdict:
    """The verdict on one required name.

    Args:
        name: As written in `:require:`, such as `dW`.
        code: Stable diagnosis code such as `dW:transposed`; None when the name is right.
        exact, approx, maxdiff: The comparison on the lesson's own sizes; None where there is nothing to compare.
        line: The learner's own line that last wrote the name.
        note: A true remark that changes nothing about the verdict, such as a vacuous gradient.
        differences: How the tensor differs from the reference on the lesson's own sizes.
        word: What the page calls the standing, where its usual word would not say enough.
        facts: Texts to look at beside the message, each with what it is: what was called, what it gave.
        step: The step on the way, a name of the learner's, whose line is at fault, or by way of which it follows; in a
            bug hunt what the marked line writes.
        also: Further lines that are at fault, where the message tells of several.
        key: Where no mistake is named, the code with a key of the numbers: the same for all who came to these.
    """

    name: str
    verdict: Standing
    code: str | None = None
    message: str = ""
    exact: bool | None = None
    approx: bool | None = None
    maxdiff: float | None = None
    line: int | None = None
    note: str = ""
    worst: tuple[Worst, ...] = ()
    differences: Differences | None = None
    word: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    key: str = ""
    step: str = ""
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Verdict on a submission; *names* are in backward order.

    Args:
        message: For outcomes other than `graded`, what happened and what to do.
        line: The learner's own line that *message* speaks of.
        any_upstream: Whether each gradient was made of one that arrives, so that any other would do in its place.
        hidden_sizes: On how many sets of hidden sizes every name was checked; 0 when none was run.
        printed: What the submission printed in the visible run, cut to a bound.
        wall_ms, jail_ms: How long the grader took, and how much of that its jail did.
    """

    outcome: Outcome
    passed: bool = False
    names: tuple[NameVerdict, ...] = ()
    line: int | None = None
    column: int | None = None
    message: str = ""
    hidden_sizes: int = 0
    any_upstream: bool = True
    printed: str = ""
    wall_ms: float = 0.0
    jail_ms: float = 0.0
