"""One run of a submission in the jail, and what is judged of it: as it is written, and with its loops unrolled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.engine.grade.hidden_draws import SETS
from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.prepared_task import PreparedTask
from app.grading.judge.judging import Judge
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.python_functions import with_own_sums
from app.grading.judge.run_reports import RunReport
from app.grading.judge.unrolling.submission import UnrolledSubmission, came_to_same, unroll_submission
from app.grading.judge.verdict import UNRECOGNISED, NameVerdict, Verdict
from app.sandbox.wire import Reply


@dataclass(frozen=True, slots=True)
class AttemptRuns:
    """Outcome of the runs of *plan*.

    Args:
        with_others: Whether it was run on the numbers of the other pairs as well.
    """

    plan: ParsedSubmission
    reply: Reply
    with_others: bool
    jail: JailRunner


@dataclass(frozen=True)
class JudgedAttempt:
    """An attempt, judged by the first pair of hidden runs that it fails.

    Args:
        bare: The verdict without reasons.
        again: Runs and judges another text.
        unrolled: The text of *runs*, where that is an unrolled one.
    """

    bench: PreparedTask
    runs: AttemptRuns
    prepared: PreparedTask
    trials: Mapping[str, RunReport]
    judge: Judge
    bare: Verdict
    again: Callable[[UnrolledSubmission], "JudgedAttempt"]
    unrolled: UnrolledSubmission | None = None

    @cached_property
    def preferred(self) -> "JudgedAttempt":
        """The unrolled text, where there is one: each of its lines is judged on its own."""
        exchanged = any(":exchanged:" in (each.code or "") for each in self.bare.names)
        return self if exchanged else self._unrolled_attempt or self

    @property
    def explained(self) -> tuple["JudgedAttempt", tuple[NameVerdict, ...]]:
        """The attempt that has the reasons, and its verdicts: the preferred one, or the one of the written text."""
        best = self.preferred
        if best is not self and _nameless(best._explained_names) and not _nameless(self._explained_names):
            best = self
        names = best._explained_names
        if best is self and self._text is not None:
            names = self._text.placed(names, self.runs.plan)
        return best, names

    @property
    def declared(self) -> str:
        """The author's words on the error that stopped the code."""
        return "" if self.judge.stopped is None else self.prepared.declared_error(self.judge.stopped)

    @cached_property
    def _explained_names(self) -> tuple[NameVerdict, ...]:
        declared = self.prepared.with_declared(self.judge.verdicts(), self.trials, self.runs.plan)
        names = with_own_sums(declared, self.runs.plan)
        return names if self.unrolled is None else self.unrolled.told(names)

    @cached_property
    def _text(self) -> UnrolledSubmission | None:
        """The unrolled text; None where there is nothing to unroll, in every run alike."""
        every = [each.study.sets[name].dims for each in (self.bench, *self.bench.others) for name in SETS]
        sizes = {name: size for name, size in every[0].items() if all(dims.get(name) == size for dims in every)}
        return unroll_submission(self.runs.plan, sizes, self.bench.ruling.required)

    @cached_property
    def _unrolled_attempt(self) -> "JudgedAttempt | None":
        """The unrolled text, run and judged; None where it stops or comes to other numbers."""
        if self._text is None or self.judge.stopped is not None:
            return None
        other = self.again(self._text)
        if other.runs.reply.ending != "done" or "escaped" in other.runs.reply.texts:
            return None
        before, now = (self.bench.trials(each.reply, each.plan) for each in (self.runs, other.runs))
        return other if came_to_same(before, now, self.bench.ruling.required) else None


def _nameless(names: Sequence[NameVerdict]) -> bool:
    """True if the reason for one of *names* was not found."""
    return any((each.code or "").endswith(f":{UNRECOGNISED}") for each in names)
