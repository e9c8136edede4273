"""The jail as those see it who want a job done in it: one run at a time, in full or with less time."""

from dataclasses import replace
from typing import Protocol

from app.sandbox.wire import Job, Reply


class JailRunner(Protocol):
    def run(self, job: Job) -> Reply: ...


class JailFailedError(Exception):
    """The jail did not finish a run of trusted code; it carries the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.ending)
        self.reply = reply


class Timed:
    """*jail*, which counts how long its runs take."""

    def __init__(self, jail: JailRunner) -> None:
        self._jail = jail
        self.spent_ms = 0.0
        """Of a clock, from when the jail had the run until its reply was there; all runs together."""

    def run(self, job: Job) -> Reply:
        reply = self._jail.run(job)
        self.spent_ms += reply.wall_ms
        return reply


class TimeLimitedRunner:
    """*jail*, with at most *seconds* of processor time for each run.

    For a first try, after which a run that turns out to be long gives way to short ones. The time is the processor's:
    on a busy machine a short run stays short, and is not done twice.
    """

    def __init__(self, jail: JailRunner, seconds: float) -> None:
        self._jail = jail
        self._seconds = seconds

    def run(self, job: Job) -> Reply:
        return self._jail.run(replace(job, cpu_seconds=min(job.cpu_seconds, self._seconds)))
