"""Verdicts in words: what a row is called, the sentence that is read aloud, how numbers are shown."""

from dataclasses import dataclass
from typing import Literal

from app.engine.grader import Run
from app.grading.forward.facts import Outcome
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
UNJUDGED: dict[Outcome, Mark] = {"fault": "fault", "busy": "later"}
OURS: frozenset[Outcome] = frozenset({"fault", "busy"})
JUDGED: frozenset[Outcome] = frozenset(OUTCOMES) - OURS
# The same text gives these again, whatever the load of the machine.
LASTING: frozenset[Outcome] = frozenset({"graded", "refused", "error"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One name of a verdict. *explained* on the first fault: it stands open, later ones are collapsed."""

    verdict: NameVerdict
    word: str
    mark: Mark
    right: bool
    explained: bool
    compared: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """A verdict as the page shows it.

    Args:
        title: How the run ended; for graded ones the totals.
        hint: Index of the author's hint that fits the first fault.
        announcement: The one sentence for `role=status`.
    """

    verdict: Verdict
    title: str
    mark: Mark
    rows: tuple[Row, ...]
    announcement: str
    hint: int | None
    ours: bool


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
            explained=one is first,
            compared=compared(one),
        )
        for one in verdict.names
    )
    title = totals(verdict) if verdict.outcome == "graded" else OUTCOMES[verdict.outcome]
    return VerdictView(
        verdict=verdict,
        title=title,
        mark=_mark(verdict),
        rows=rows,
        announcement=announcement(verdict, title),
        hint=first.hint if first else None,
        ours=verdict.outcome in OURS,
    )


def first_fault(verdict: Verdict) -> NameVerdict | None:
    """What to look at first: a name that is still to be written comes after one that is written wrongly."""
    open_names = [one for one in verdict.names if one.verdict not in RIGHT]
    return next((one for one in open_names if one.verdict != "not-yet"), next(iter(open_names), None))


def _mark(verdict: Verdict) -> Mark:
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


def totals(verdict: Verdict) -> str:
    """`2 of 3 right, checked on 2 hidden sizes`; nothing that was not run is claimed."""
    right = sum(one.verdict in RIGHT for one in verdict.names)
    said = f"{right} of {len(verdict.names)} right"
    if not verdict.hidden_sizes:
        return said
    return f"{said}, checked on {verdict.hidden_sizes} hidden size{'s' if verdict.hidden_sizes > 1 else ''}"


def announcement(verdict: Verdict, title: str) -> str:
    """One sentence; names what to look at first."""
    wrong = first_fault(verdict)
    if verdict.outcome != "graded":
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
    """The comparison line of the lesson's own sizes, as torch users print it; empty where nothing was compared."""
    parts = []
    if one.exact is not None:
        parts.append(f"exact {one.exact}")
    if one.approx is not None:
        parts.append(f"approx {one.approx}")
    if one.maxdiff is not None:
        parts.append(f"maxdiff {number(one.maxdiff)}")
    return " · ".join(parts)


def number(value: float) -> str:
    """Short, but never zero for what is not zero."""
    return f"{value:.3g}"
