"""A jail with less time: for a first try, after which a run that turns out to be long gives way to short ones.

The time is the processor's: on a busy machine a short run stays short, and is not done twice.
"""

from dataclasses import replace

from app.engine.grade.forward_references import JailRuns
from app.sandbox.wire import Job, Reply


class Hurried:
    """*jail*, with at most *seconds* of processor time for each run."""

    def __init__(self, jail: JailRuns, seconds: float) -> None:
        self._jail = jail
        self._seconds = seconds

    def run(self, job: Job) -> Reply:
        return self._jail.run(replace(job, cpu_seconds=self._seconds))
