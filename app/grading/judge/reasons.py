"""Reasons for a wrong line: from its numbers, the steps that it uses, and the tables of mistakes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from app.content.program.literals import literal_sizes
from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.judge.compare import HIDDEN, hidden_values, silent_consumers
from app.grading.judge.near_misses import TABLES, diagnose_near_miss, diagnose_rounded
from app.grading.judge.overwritten import explain_overwriting
from app.grading.judge.roads import Roads
from app.grading.judge.shared_steps import BESIDES, steps_of
from app.grading.judge.verdict import NameVerdict
from app.syntax import arguments_of, as_written, called_name, nodes_in, options_of, program_of

SIZE = "size-hard-coded"
"""Part of the code of a line that is right on the sizes of the lesson alone."""
SETTLED = frozenset({"right", "right-other-road", "follows"})
PROPORTIONAL = frozenset(
    {"sign", "doubled", "halved", "factor", "constant-missing", "constant-twice"}
    | {
        "mean",
        "wrong-axis",
        "mean-wrong-axis",
        "not-reduced",
        "summed-all",
        "one-slice",
        "keepdim-lost",
        "keepdim-added",
    }
)
"""Codes of a gradient that is right but for a number, or for how it is added up."""


class Reasons:
    """The reasons for what is wrong in one submission.

    Args:
        standing: The verdicts, which are known once a reason is asked for.
        follows: Whether something that a name is computed from is at fault as well.
    """

    def __init__(
        self, roads: Roads, standing: Callable[[], Mapping[str, NameVerdict]], follows: Callable[[str], bool]
    ) -> None:
        self._roads = roads
        self._program = roads.program
        self._plan = roads.plan
        self._fit = roads.fit
        self._ruling = roads.ruling
        self._standing = standing
        self._follows = follows

    def told(self, verdict: NameVerdict, explains: bool) -> NameVerdict:
        """*verdict* with the reason, where it calls a line wrong and has none; see `found` for *explains*."""
        if verdict.verdict == "mutated" and explains and (moved := self._written_elsewhere(verdict.name)) is not None:
            return replace(verdict, code=moved.code, message=moved.message, line=moved.line or verdict.line)
        if verdict.verdict != "wrong" or verdict.code is not None:
            return verdict
        name, rebound = verdict.name, self._fit.trials["v"].rebound
        diagnosis = explain_overwriting(self.found(name, explains), name, self._plan, rebound, self._ruling.required)
        message, line = (
            f"{diagnosis.message} {self._silent(name, diagnosis.code)}".rstrip(),
            diagnosis.line or verdict.line,
        )
        key = f"{diagnosis.code}:{diagnosis.value}" if diagnosis.value else ""
        # By a size that stands in the text it is right on these numbers, and not by a one.
        note = verdict.note.replace(self.by_ones(name), "").strip() if SIZE in diagnosis.code else verdict.note
        said = replace(verdict, code=diagnosis.code, message=message, line=line, key=key, note=note)
        return replace(said, step=diagnosis.step, also=diagnosis.also)

    def _written_elsewhere(self, name: str) -> Diagnosis | None:
        """The line that writes into a given tensor what belongs into *name*: then that is not merely edited."""
        got = hidden_values(self._fit.trials, name)
        if got is None or self._fit.alone(name):
            return None
        diagnosis = self._roads.laboratory.diagnosis(name, self._ruling.forced, got, self._settled)
        return diagnosis if diagnosis is not None and diagnosis.code.startswith(f"{name}:written-elsewhere:") else None

    def by_ones(self, name: str) -> str:
        """Say why a wrong line is right on the lesson's own numbers: what it does not read is 1 there."""
        unread = self._program.frontier(name[1:], self._ruling.forced) - self._roads.drawn_on.get(name, frozenset())
        ones = [text for text in sorted(unread) if (self._fit.references["v"][text[1:]].gradient == 1).all()]
        shown = ", ".join(f"`{text}`" for text in ones)
        return f"On these numbers it comes out right only because {shown} is 1 here." if ones else ""

    def _silent(self, name: str, code: str) -> str:
        """That the share which a line leaves out is zero on true gradients: numbers alone do not show the slip."""
        if not code.startswith(f"{name}:share-missing:"):
            return ""
        references = [self._roads.true[run][name[1:]] for run in HIDDEN]
        if code.rpartition(":")[2] not in silent_consumers(references, self._program):
            return ""
        return "For this loss that share comes to zero, so autograd's numbers are the same; for another it does not."

    def found(self, name: str, explains: bool) -> Diagnosis:
        """The mistake in *name*; without *explains* no more than its numbers show."""
        error = self.hidden_error(name)
        if error is not None:
            return self._also_wrong_here(name, error)
        got = hidden_values(self._fit.trials, name)
        if got is None:
            return sentences.only_here(name)
        pairs = {run: (got[run], reference) for run, reference in self._fit.isolated(name).items()}
        diagnosis = diagnose_rounded(name, pairs) or diagnose_near_miss(name, pairs, TABLES)
        if not explains:
            return diagnosis or diagnose_near_miss(name, pairs) or sentences.plain_difference(name)
        diagnosis = diagnosis or self._started(name)
        if diagnosis is not None:
            return diagnosis
        clean = not self._follows(name)
        if (
            clean
            and self._fit.references["v"][name[1:]].telling
            and (shown := self._fit.trials["v"].final(name)) is not None
        ):
            got["v"] = shown
        borrowed = self._diagnosed_on_true(name) if self._roads.borrows(name) else None
        if borrowed is not None and borrowed.code.removeprefix(f"{name}:").partition(":")[0] in PROPORTIONAL:
            return borrowed  # it starts from something else, and that is as good
        drawn_on, weak = self._roads.drawn_on.get(name, frozenset()), None
        for cut in dict.fromkeys((self._ruling.forced, drawn_on)):
            diagnosis = self._roads.laboratory.diagnosis(name, cut, got, self._settled)
            # On another road the rule's own upstream gradient is missing whatever else is wrong.
            own = drawn_on & self._program.frontier(name[1:], self._ruling.forced)
            missing = f"{name}:upstream-missing" + ("" if drawn_on else ":unread")
            if diagnosis is not None and (own or diagnosis.code != missing):
                return diagnosis
            weak = weak or diagnosis
        diagnosis = weak or borrowed or diagnose_near_miss(name, pairs)
        if diagnosis is None and (rest := self._roads.laboratory.diagnosis_in_sizes(name)) is not None:
            return sentences.sizes_besides(rest)
        if diagnosis is None and len(drawn_on) > 1 and not self._roads.borrows(name):
            # Of two gradients that are alike one may stand for the other, which random numbers hide.
            diagnosis = self._diagnosed_on_true(name)
        others = any(
            other != name and name_verdict.verdict == "wrong" for other, name_verdict in self._standing().items()
        )
        return diagnosis or self._roads.laboratory.unrecognised(name, got, others, self._settled)

    @cached_property
    def _settled(self) -> frozenset[str]:
        """The names that are right where each line is judged on its own, and no line of which stopped."""
        right = (name for name, verdict in self._standing().items() if verdict.verdict in SETTLED)
        alone = frozenset(name for name in right if self._fit.alone(name))
        # What a right gradient is made of is right; of a name that is written twice, one of its lines may not be.
        steps = steps_of(self._plan, alone, self._ruling.forced)
        return alone | {step for step in steps if len(self._plan.writing(step)) == 1}

    def _diagnosed_on_true(self, name: str) -> Diagnosis | None:
        """The mistake in a line that borrows: random numbers in the place of what it borrows would hide it."""
        got = hidden_values(self._roads.substituted, name)
        return None if got is None else self._roads.laboratory.diagnosis_on_true(name, got)

    def _started(self, name: str) -> Diagnosis | None:
        """Diagnose the mistake in an optional gradient that *name* is computed from."""
        steps = [
            value
            for value in self._fit.trials["a"].values
            if value not in self._ruling.forced and value[:1] == "d" and value in self._fit.trials["b"].values
        ]
        used = self._plan.drawn_on({*steps, *self._ruling.forced})
        waiting, started = [name], set[str]()
        while waiting:
            fresh = {text for text in used.get(waiting.pop(), ()) if text in steps} - started
            started |= fresh
            waiting += fresh
        wrong: list[str] = []
        for step in sorted(started, key=lambda text: self._plan.last[text]):
            got = {run: self._fit.trials[run].values[step] for run in HIDDEN}
            references = self._roads.laboratory.references_via(step, self._ruling.forced)
            if not references or all(self._fit.match(got[run], references[run]) for run in HIDDEN):
                continue
            wrong.append(step)
        if not wrong:
            return None
        step = wrong[0]
        got = {run: self._fit.trials[run].values[step] for run in HIDDEN}
        mistake = self._roads.laboratory.diagnosis(step, self._ruling.forced, got, self._settled)
        if mistake is None:
            return None
        code, line = f"{name}:through:{mistake.code}", self._plan.lines[self._plan.last[step]].line
        if mistake.step:
            return replace(mistake, code=code)
        # What is made of the first one may be wrong because of it; what is not, is wrong by its own line.
        apart = [other for other in wrong[1:] if not steps_of(self._plan, [other], self._ruling.forced) & {*wrong}]
        also = {other: self._plan.lines[self._plan.last[other]].line for other in apart}
        besides = "".join(f" {BESIDES.format(name=other, line=at)}" for other, at in also.items())
        message = f"It starts at `{step}` in line {line}. {mistake.message}{besides}"
        return Diagnosis(code=code, message=message, line=line, step=step, also=(*also.values(),))

    def _also_wrong_here(self, name: str, error: Diagnosis) -> Diagnosis:
        """*error* on hidden sizes; behind what is wrong on the lesson's own numbers, where something is."""
        shown = self._fit.trials["v"].final(name)
        if shown is None or self._fit.fits(name, "v") or self._follows(name):
            return error
        diagnosis = self._roads.laboratory.diagnosis_in_sizes(name)
        if diagnosis is None:
            nothing = {run: np.zeros_like(shown) for run in HIDDEN}
            diagnosis = self._roads.laboratory.unrecognised(name, {**nothing, "v": shown}, others=False)
        return sentences.wrong_already(diagnosis, error)

    def hidden_error(self, name: str) -> Diagnosis | None:
        """The error that kept *name* from being computed on hidden sizes although the visible run went well."""
        for run in HIDDEN:
            if name in self._fit.trials[run].values:
                continue
            last = self._plan.last.get(name, -1)
            for error in self._fit.trials[run].errors:
                if error.statement <= last:
                    sizes, open_hot = self._written_sizes(error.statement), self._open_hot(error.statement)
                    return sentences.stops_elsewhere(name, error.line, error.kind, sizes, open_hot)
        return None

    def _written_sizes(self, last: int) -> dict[int, str]:
        """The numbers written as sizes in the lines down to *last* that are a dim's size here, with the dim."""
        lines = program_of(line.node for line in self._plan.lines[: last + 1])
        return {literal.number: literal.dim for literal in literal_sizes(lines, self._ruling.dims)}

    def _open_hot(self, last: int) -> str:
        """A one-hot that leaves the number of classes to the data, in the lines down to *last*."""
        nodes = (node for line in self._plan.lines[: last + 1] for node in nodes_in(line.node))
        calls = (node for node in nodes if called_name(node) == "one_hot")
        return next((as_written(call) for call in calls if len(arguments_of(call)) + len(options_of(call)) == 1), "")
