"""Verdicts in words: what a row is called, the sentence that is read aloud, how numbers are shown."""

from dataclasses import dataclass
from typing import Literal

from app.engine.grader import Run
from app.grading.forward.facts import Outcome
from app.grading.judge.hunt_verdict import LINE, MEND, OTHERS
from app.grading.judge.verdict import RIGHT, NameVerdict, Standing, Verdict

Mark = Literal["right", "wrong", "follows", "later", "fault"]

STANDINGS: dict[Standing, str] = {
    "right": "right",
    "right-other-road": "right, by another road",
    "wrong": "not yet right",
    "follows": "follows from an earlier one",
    "not-yet": "not yet",
    "aliased": "shares memory",
    "mutated": "changed in place",
}
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
MARKS: dict[Standing, Mark] = {
    "right": "right",
    "right-other-road": "right",
    "wrong": "wrong",
    "follows": "follows",
    "not-yet": "later",
    "aliased": "wrong",
    "mutated": "wrong",
}
FAULTS: frozenset[Standing] = frozenset({"wrong", "aliased", "mutated"})
UNJUDGED: dict[Outcome, Mark] = {"fault": "fault", "busy": "later"}
OURS: frozenset[Outcome] = frozenset({"fault", "busy"})
JUDGED: frozenset[Outcome] = frozenset(OUTCOMES) - OURS
# The same text gives these again, whatever the load of the machine.
LASTING: frozenset[Outcome] = frozenset({"graded", "refused", "error"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One name of a verdict.

    Args:
        fault: It is at fault itself: its line is marked, and what is said of it stands open.
        explained: What to look at first, with all that can be said.
        compared: How its numbers compare on the lesson's own data.
    """

    verdict: NameVerdict
    word: str
    mark: Mark
    right: bool
    fault: bool
    explained: bool
    compared: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """A verdict as the page shows it.

    Args:
        title: How the run ended; for graded ones what is left to do.
        tally: How many are right, where the title does not say it.
        message: What is said of the run as a whole, unless the first fault says it.
        rows: In backward order.
        checked: What a right verdict rests on.
        hint: Index of the author's hint that fits the first fault.
        announcement: The one sentence for `role=status`.
    """

    verdict: Verdict
    title: str
    tally: str
    message: str
    mark: Mark
    rows: tuple[Row, ...]
    checked: str
    announcement: str
    hint: int | None
    ours: bool

    @property
    def first(self) -> tuple[Row, ...]:
        """What to look at first, and then what else is at fault."""
        return tuple(
            sorted((row for row in self.rows if row.fault or row.explained), key=lambda row: not row.explained)
        )

    @property
    def rest(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if not (row.fault or row.explained))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """The hint that is about the first fault. *way* says how it is come by; empty where it is open already."""

    number: int
    called: str
    about: str
    way: str


def verdict_view(verdict: Verdict) -> VerdictView:
    first = first_fault(verdict)
    rows = tuple(
        Row(
            verdict=one,
            word=one.word or STANDINGS[one.verdict],
            mark=MARKS[one.verdict],
            right=one.verdict in RIGHT,
            fault=one.verdict in FAULTS,
            explained=one is first,
            compared=compared(one),
        )
        for one in verdict.names
    )
    title, tally = headline(verdict), totals(verdict) if verdict.names else ""
    told = first is not None and first.verdict in FAULTS and first.message.startswith(verdict.message)
    return VerdictView(
        verdict=verdict,
        title=title,
        tally="" if tally == title else tally,
        message="" if told else verdict.message,
        mark=_mark(verdict),
        rows=rows,
        checked=checked(verdict),
        announcement=announcement(verdict, title),
        hint=first.hint if first else None,
        ours=verdict.outcome in OURS,
    )


def first_fault(verdict: Verdict) -> NameVerdict | None:
    """What to look at first: a name that is still to be written comes after one that is written wrongly."""
    open_names = [one for one in verdict.names if one.verdict not in RIGHT]
    return next((one for one in open_names if one.verdict != "not-yet"), next(iter(open_names), None))


def _mark(verdict: Verdict) -> Mark:
    """The sign beside the title."""
    if verdict.outcome == "graded":
        waiting = all(one.verdict in RIGHT or one.verdict == "not-yet" for one in verdict.names)
        return "right" if verdict.passed else "later" if waiting else "wrong"
    return UNJUDGED.get(verdict.outcome, "wrong")


def fitting_hint(verdict: VerdictView, total: int, opened: int) -> Fitting | None:
    """What *verdict* says of *total* hints: they open in order, so one that fits may stand behind others."""
    at = verdict.hint
    about = next((row.verdict.name for row in verdict.rows if row.explained), "")
    if at is None or not about or at >= total:
        return None
    called = "The hint" if total == 1 else f"Hint {at + 1} of {total}"
    way = "" if at < opened or total == 1 else _way(opened + 1, at)
    return Fitting(number=at + 1, called=called, about=about, way=way)


def _way(first: int, last: int) -> str:
    """How a hint is come by that stands behind the closed ones from *first* to *last*."""
    if last < first:
        return "it is the next one"
    if last == first:
        return f"hint {first} opens before it"
    return f"hints {first} {'and' if last == first + 1 else 'to'} {last} open before it"


def headline(verdict: Verdict) -> str:
    """What is left to do, in a few words: `4 lines to mend, 12 follow from them`."""
    faults = [one for one in verdict.names if one.verdict in FAULTS]
    if verdict.outcome not in {"graded", "error"} or (verdict.outcome == "error" and not faults):
        return OUTCOMES[verdict.outcome]
    if not faults:
        return totals(verdict)
    if faults[0].name == LINE:
        return f"Not this one: {faults[0].word}"
    if faults[0].name == OTHERS:
        return "Mended, and more was changed"
    if not any(one.name.startswith("d") for one in verdict.names):
        return f"{len(faults)} of {len(verdict.names)} cases not yet judged rightly"
    lines = len({one.line or one.name for one in faults})
    follows = sum(one.verdict == "follows" for one in verdict.names)
    them = "it" if lines == 1 else "them"
    after = f", {follows} {'follows' if follows == 1 else 'follow'} from {them}" if follows else ""
    return f"{lines} {'line' if lines == 1 else 'lines'} to mend{after}"


def totals(verdict: Verdict) -> str:
    """`2 of 3 right, checked on 2 hidden sizes`, of the gradients; nothing that was not run is claimed."""
    names = [one for one in verdict.names if one.name not in (LINE, MEND, OTHERS)] or verdict.names
    right = sum(one.verdict in RIGHT for one in names)
    said = f"{right} of {len(names)} right"
    if not verdict.hidden_sizes:
        return said
    return f"{said}, checked on {verdict.hidden_sizes} hidden size{'s' if verdict.hidden_sizes > 1 else ''}"


def announcement(verdict: Verdict, title: str) -> str:
    """One sentence; names what to look at first."""
    wrong = first_fault(verdict)
    if verdict.outcome != "graded" and verdict.message:
        return spoken(f"{title}. {verdict.message}")
    if wrong is None:
        return f"{title}."
    return spoken(f"{title}. {wrong.name}: {wrong.message or STANDINGS[wrong.verdict]}")


def run_announcement(run: Run) -> str:
    if run.outcome == "graded":
        return f"It ran: {len(run.shown)} {'value' if len(run.shown) == 1 else 'values'} shown."
    return spoken(f"{OUTCOMES[run.outcome]}. {run.message}")


def spoken(text: str) -> str:
    """Without the marks that only the eye reads."""
    return " ".join(text.replace("`", "").split())


def compared(one: NameVerdict) -> str:
    """How its numbers compare with torch's on the lesson's own data, in words; empty where nothing was compared."""
    if one.exact is None or one.verdict == "not-yet":
        return ""
    if one.exact:
        said = "equal to the last bit"
    elif one.approx:
        said = f"equal up to rounding, maxdiff {number(one.maxdiff or 0.0)}"
    else:
        return "" if one.maxdiff is None else f"off, maxdiff {number(one.maxdiff)}"
    return said if one.verdict in RIGHT else f"on these numbers {said}"


def checked(verdict: Verdict) -> str:
    """What a right verdict rests on: more than that these numbers come out."""
    if not verdict.passed or not verdict.hidden_sizes:
        return ""
    compared = [one for one in verdict.names if one.exact is not None]
    exact = sum(bool(one.exact) for one in compared)
    how = "to the last bit" if exact == len(compared) else "up to rounding"
    return (
        "Each line is the rule and not only the number: it holds for other sizes and for any upstream. "
        f"On the lesson's own data your numbers are those of torch {how}."
    )


def number(value: float) -> str:
    """Short, but never zero for what is not zero."""
    return f"{value:.3g}"
