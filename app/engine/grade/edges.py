"""Right answers that part from torch where a number lies exactly on an edge: a remark, and no fault.

At a corner, as of relu at 0, a function has no derivative: torch takes one of several, and a rule that takes another is
as right. That is said, and so is that a rule which divides has no number there.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.prepared_task import PreparedTask
from app.grading.judge.parsed_submission import ParsedSubmission, parse_submission
from app.grading.judge.run_reports import RunReport
from app.grading.judge.verdict import Verdict
from app.sandbox.wire import Reply

ON_EDGE = (
    "Where a number lies exactly on an edge (it is 0, or two are equal), torch has another: there is a corner, and "
    "which slope counts there is a convention."
)
NO_NUMBER = (
    "Where a number lies exactly on an edge (it is 0, or two are equal), this divides by 0 and gives no number; torch "
    "gives one."
)


def with_remarks(
    verdict: Verdict, bench: PreparedTask, plan: ParsedSubmission, reply: Reply, solution: str, jail: JailRunner
) -> Verdict:
    """*verdict*, which is right, with a remark at each name that is another one on the edges; not so in *solution*.

    Args:
        reply: What the jail answered to the job of *plan*.
    """
    remarks = _remarks(bench, plan, reply, jail)
    usual = parse_submission(solution)
    own = _remarks(bench, usual, jail.run(bench.job(usual)), jail)
    names = [
        replace(name, note=f"{name.note} {remarks[name.name]}".lstrip()) if name.name in remarks.keys() - own else name
        for name in verdict.names
    ]
    return replace(verdict, names=tuple(names))


def _remarks(bench: PreparedTask, plan: ParsedSubmission, reply: Reply, jail: JailRunner) -> Mapping[str, str]:
    """By name: what is said of a submission that is right elsewhere."""
    edge = bench.edge
    if edge is None or not bench.differs_on_edge(plan, reply):
        return {}
    trials = bench.trials(reply, plan, edge)
    judged = edge.judge(plan, trials, jail).verdicts(explains=False)
    return {
        name_verdict.name: _remark(name_verdict.name, trials)
        for name_verdict in judged
        if name_verdict.verdict == "wrong"
    }


def _remark(name: str, trials: Mapping[str, RunReport]) -> str:
    values = [trial.values[name] for trial in trials.values() if name in trial.values]
    return ON_EDGE if all(np.isfinite(value).all() for value in values) else NO_NUMBER
