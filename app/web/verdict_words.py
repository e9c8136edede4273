"""Verdicts in words: what a row is called, the sentence that is read aloud, how numbers are shown."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.content.blocks.exercises import Hint
from app.content.text.sentences import STRESSED
from app.engine.grader import Nudge, RunResult
from app.grading.forward.facts import Outcome
from app.grading.judge.hint_choice import fitting_hint
from app.grading.judge.hunt_verdict import LINE, MEND, OTHERS
from app.grading.judge.verdict import (
    NOT_BEGUN,
    NOT_FINISHED,
    NOT_JUDGED,
    RIGHT,
    SHARES_MEMORY,
    NameVerdict,
    Standing,
    Verdict,
)

Mark = Literal["right", "wrong", "follows", "later", "fault"]

STANDINGS: dict[Standing, tuple[str, Mark]] = {
    "right": ("right", "right"),
    "right-other-road": ("right, by another road", "right"),
    "wrong": ("not yet right", "wrong"),
    "follows": ("follows from an earlier one", "follows"),
    "not-yet": ("not yet", "later"),
    "aliased": ("shares memory", "wrong"),
    "mutated": ("changed in place", "wrong"),
}
"""What a row is called, and its sign."""
OUTCOMES: dict[Outcome, str] = {
    "graded": "Checked",
    "refused": "Not run",
    "error": "Stopped by an error",
    "timeout": "Stopped: took too long",
    "memory": "Stopped: too much memory",
    "denied": "Stopped: not allowed here",
    "crashed": "Crashed",
    "fault": "Our fault, not yours",
    "busy": "Not checked yet",
}
HUNTED = (LINE, MEND)
"""What is judged of a bug hunt before its gradients are."""
LATER: dict[Standing, int] = {"not-yet": 1, "follows": 2}
"""What is looked at after the faults."""
FAULTS: frozenset[Standing] = frozenset(standing for standing, (_, mark) in STANDINGS.items() if mark == "wrong")
UNJUDGED: dict[Outcome, Mark] = {"fault": "fault", "busy": "later"}
OURS: frozenset[Outcome] = frozenset({"fault", "busy"})
JUDGED: frozenset[Outcome] = frozenset(OUTCOMES) - OURS
# The same text gives these again, whatever the load of the machine.
LASTING: frozenset[Outcome] = frozenset({"graded", "refused", "error"})


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One name of a verdict. *explained* is what to look at first, with all that can be said."""

    verdict: NameVerdict
    explained: bool

    @property
    def word(self) -> str:
        if self.verdict.name == LINE and self.fault and self.verdict.step:
            return "not the one"  # the title says which line
        return self.verdict.word or STANDINGS[self.verdict.verdict][0]

    @property
    def name(self) -> str:
        """Name of what is judged: what a marked line writes, the step on the way that is at fault, or the gradient."""
        own = self.fault or self.verdict.name in HUNTED
        return self.verdict.step if own and self.verdict.step else self.verdict.name

    @property
    def mark(self) -> Mark:
        return STANDINGS[self.verdict.verdict][1]

    @property
    def right(self) -> bool:
        return self.verdict.verdict in RIGHT

    @property
    def told(self) -> bool:
        """There is more to say of it than that it is right."""
        return self.right and bool(self.verdict.note or self.verdict.message)

    @property
    def fault(self) -> bool:
        """True if the line itself is at fault: it is marked, and its message is open."""
        return self.verdict.verdict in FAULTS

    @property
    def unsaid(self) -> bool:
        """It is at fault, and may be for the reason that is told of another one: only its case is shown."""
        return self.fault and not self.explained and bool(self.verdict.facts) and not self.verdict.message

    @property
    def folds(self) -> bool:
        """It waits behind the rows to look at first."""
        return self.unsaid or not (self.fault or self.explained)

    @property
    def compared(self) -> str:
        """Comparison of its numbers on the lesson's own data."""
        return compared(self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HintPointer:
    """The hint that is about the first fault. *way* says how it is come by; empty where it is open already."""

    number: int
    called: str
    about: str
    way: str


@dataclass(frozen=True)
class VerdictView:
    """A verdict as the page shows it."""

    verdict: Verdict

    @cached_property
    def _first(self) -> NameVerdict | None:
        return first_fault(self.verdict)

    @cached_property
    def rows(self) -> tuple[VerdictRow, ...]:
        """In backward order."""
        return tuple(VerdictRow(name_verdict, name_verdict is self._first) for name_verdict in self.verdict.names)

    @property
    def first(self) -> tuple[VerdictRow, ...]:
        """Rows to look at first, and then the others at fault."""
        return tuple(sorted((row for row in self.rows if not row.folds), key=lambda row: not row.explained))

    @property
    def rest(self) -> tuple[VerdictRow, ...]:
        return tuple(row for row in self.rows if row.folds)

    @cached_property
    def title(self) -> str:
        """Title of the run: how it ended, or what is left to do."""
        return headline(self.verdict)

    @property
    def tally(self) -> str:
        """Number of right lines, if the title does not say it."""
        tally = count_text(self.verdict) if self.verdict.names else ""
        return "" if tally == self.title else tally

    @property
    def message(self) -> str:
        """Message on the run as a whole, unless the first fault says it."""
        first, message = self._first, self.verdict.message
        title = first is not None and first.verdict in FAULTS and first.message.startswith(message)
        return "" if title else message

    @property
    def mark(self) -> Mark:
        """The sign beside the title."""
        if self.verdict.outcome == "graded":
            waiting = not any(name_verdict.verdict in FAULTS for name_verdict in self.verdict.names)
            return "right" if self.verdict.passed else "later" if waiting else "wrong"
        return UNJUDGED.get(self.verdict.outcome, "wrong")

    @property
    def checked(self) -> str:
        """Grounds of a right verdict: more than that these numbers come out; or why lines below a stop are right."""
        if not self.verdict.passed or not self.verdict.hidden_sizes:
            return self._run_without()
        compared = [name_verdict for name_verdict in self.verdict.names if name_verdict.exact is not None]
        exact = sum(bool(name_verdict.exact) for name_verdict in compared)
        how = "to the last bit" if exact == len(compared) else "up to rounding"
        rules = all(name_verdict.verdict == "right" for name_verdict in self.verdict.names)
        other = "any upstream gradient" if self.verdict.any_upstream else "other numbers"
        held = (
            f"Each line is the rule, not just the number: it also holds for other sizes and {other}. "
            if rules
            else "The numbers hold for other sizes, too. "
        )
        return f"{held}On the data of this box your numbers are those of torch {how}."

    def _run_without(self) -> str:
        """Say how lines below the one that stopped can be right; empty where none is."""
        stopped = self.verdict.line if self.verdict.outcome == "error" else None
        if stopped is None or not any(row.right and (row.verdict.line or 0) > stopped for row in self.rows):
            return ""
        return f"The lines below that read nothing of line {stopped} were run without it."

    @property
    def announcement(self) -> str:
        """The one sentence for `role=status`; it names what to look at first."""
        wrong, message = self._first, self.verdict.message
        if self.verdict.outcome != "graded" and message:
            return spoken(f"{self.title}. {message}")
        if wrong is None:
            return f"{self.title}."
        return spoken(f"{self.title}. {wrong.step or wrong.name}: {wrong.message or STANDINGS[wrong.verdict][0]}")

    @property
    def ours(self) -> bool:
        return self.verdict.outcome in OURS

    def fitting(self, hints: Sequence[Hint], opened: int, required: Collection[str]) -> HintPointer | None:
        """Find the hint that is about the first fault: hints open in order, so it may follow closed ones.

        Args:
            hints: Those that are shown beside it.
            required: All gradients of the box.
        """
        if self._first is None or self._first.code is None:
            return None
        at = fitting_hint([str(hint.html) for hint in hints], self._first.name, self._first.code, required)
        if at is None:
            return None
        total = len(hints)
        called = "The hint" if total == 1 else f"Hint {at + 1} of {total}"
        way = "" if at < opened or total == 1 else _locked_hints_text(opened + 1, at)
        return HintPointer(number=at + 1, called=called, about=self._first.name, way=way)


def first_fault(verdict: Verdict) -> NameVerdict | None:
    """Find what to look at first: a wrong line, or else an unwritten one; the rest follows."""
    open_names = [name_verdict for name_verdict in verdict.names if name_verdict.verdict not in RIGHT]
    return min(open_names, key=lambda name_verdict: LATER.get(name_verdict.verdict, 0), default=None)


def _locked_hints_text(first: int, last: int) -> str:
    """Say which locked hints have to be opened before the one that fits."""
    if last < first:
        return "it is the next one"
    if last == first:
        return f"hint {first} opens before it"
    return f"hints {first} {'and' if last == first + 1 else 'to'} {last} open before it"


def headline(verdict: Verdict) -> str:
    """Say in a few words what is left to do: `1 line to fix, 2 follow from it, 14 not begun`."""
    faults = [name_verdict for name_verdict in verdict.names if name_verdict.verdict in FAULTS]
    if verdict.outcome == "error" and not faults and verdict.names and verdict.line:
        return "A line to fix"  # the others were judged without it
    if verdict.outcome not in {"graded", "error"} or (verdict.outcome == "error" and not faults):
        return OUTCOMES[verdict.outcome]
    if verdict.names and not faults and {name_verdict.name for name_verdict in verdict.names} <= {*HUNTED}:
        found = any(name_verdict.name == LINE and name_verdict.verdict in RIGHT for name_verdict in verdict.names)
        return "Found, not mended yet" if found else "The wrong line is not marked yet"
    if not faults:
        return count_text(verdict)
    if faults[0].name == LINE:
        return faults[0].word.capitalize()
    if faults[0].name == OTHERS:
        return "Fixed, and more was changed"
    if not any(name_verdict.name.startswith("d") for name_verdict in verdict.names):
        return (
            f"Not yet right in {len(faults)} of {len(verdict.names)} cases"
            if len(verdict.names) > 1
            else "Not yet right"
        )
    apart = {line for name_verdict in verdict.names for line in name_verdict.also}
    lines = len(apart.union(fault.line or fault.name for fault in faults))
    following = [name_verdict for name_verdict in verdict.names if name_verdict.verdict == "follows"]
    follows = sum(not name_verdict.word.startswith(SHARES_MEMORY) for name_verdict in following)
    them = "it" if lines == 1 else "them"
    after = f", {follows} {'follows' if follows == 1 else 'follow'} from {them}" if follows else ""
    # Verdicts that were stored before have no word.
    waiting = Counter(
        name_verdict.word or NOT_BEGUN for name_verdict in verdict.names if name_verdict.verdict == "not-yet"
    )
    after += "".join(f", {waiting[word]} {word}" for word in (NOT_BEGUN, NOT_FINISHED, NOT_JUDGED) if waiting[word])
    return f"{lines} {'line' if lines == 1 else 'lines'} to fix{after}"


def count_text(verdict: Verdict) -> str:
    """`2 of 3 right, checked on 2 hidden sizes`, of the gradients; nothing that was not run is claimed."""
    names = [
        name_verdict for name_verdict in verdict.names if name_verdict.name not in (LINE, MEND, OTHERS)
    ] or verdict.names
    right = sum(name_verdict.verdict in RIGHT for name_verdict in names)
    words = f"{right} of {len(names)} right"
    if not verdict.hidden_sizes:
        return words
    return f"{words}, checked on {verdict.hidden_sizes} hidden size{'s' if verdict.hidden_sizes > 1 else ''}"


def run_title(run: RunResult) -> str:
    return {"graded": "Ran, without a verdict", "busy": "Not run yet"}.get(run.outcome, OUTCOMES[run.outcome])


def run_announcement(run: RunResult) -> str:
    if run.outcome == "graded":
        return f"It ran: {len(run.shown)} {'value' if len(run.shown) == 1 else 'values'} shown."
    return spoken(f"{run_title(run)}. {run.message}")


def nudge_title(nudge: Nudge) -> str:
    """Title of a nudge without a quotient."""
    return {"busy": "Not nudged yet"}.get(nudge.outcome, OUTCOMES[nudge.outcome])


def nudge_announcement(nudge: Nudge) -> str:
    own, at = "none" if nudge.own is None else f"{nudge.own:#.7g}", ", ".join(map(str, nudge.entry))
    numbers = f"The quotient is {nudge.quotient:#.7g}; your {nudge.name}{f'[{at}]' if at else ''}: {own}."
    title = {"graded": numbers, "refused": ""}.get(nudge.outcome, f"{nudge_title(nudge)}.")
    return spoken(f"{title} {nudge.note} {nudge.message}")


def spoken(text: str) -> str:
    """Without the marks that only the eye reads."""
    return " ".join(STRESSED.sub(r"\1", text.replace("`", "")).split())


def compared(name_verdict: NameVerdict) -> str:
    """Compare its numbers with torch's on the lesson's own data, in words; empty if nothing was compared."""
    if name_verdict.exact is None or name_verdict.verdict == "not-yet":
        return ""
    if name_verdict.exact and name_verdict.note and name_verdict.verdict not in RIGHT:
        return ""  # the note says by what luck they agree: beside a cross, "equal to the last bit" would deny it
    if not name_verdict.exact and not name_verdict.approx and name_verdict.maxdiff is None:
        return ""
    words = closeness_text(name_verdict.exact, name_verdict.approx, name_verdict.maxdiff)
    if not name_verdict.exact and not name_verdict.approx:
        return words
    if name_verdict.verdict in RIGHT:
        return words
    # Rounding is measured by the largest entry: of a line that is wrong it may be a share that is lost beside it.
    return f"on these numbers {words.removeprefix('equal up to rounding, ')}"


def closeness_text(exact: bool, approx: bool | None, maxdiff: float | None) -> str:
    """Describe how near numbers are to torch's; without *maxdiff*, the largest difference, some are not finite."""
    if exact:
        return "equal to the last bit"
    if approx:
        return f"equal up to rounding, at most {number_text(maxdiff or 0.0)} apart"
    return "not all finite" if maxdiff is None else f"off by up to {number_text(maxdiff)}"


def number_text(value: float) -> str:
    """Short, but never zero for what is not zero."""
    return f"{value:.3g}"
