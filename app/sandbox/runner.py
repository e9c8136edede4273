"""The grader's side of the jail: one job in, one reply out, whatever happens inside.

The grader alone holds the read end of the result pipe, the deadline and the pidfd. A result counts only if the child
said that every layer planned for it was in force before it ran anything.
"""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.sandbox import groups, jail, kernel, protection
from app.sandbox.process import COMMAND, Child, ChildExit, Interrupt, ResultPipe, Zygote, ZygoteGoneError
from app.sandbox.wire import DecodedFrames, Ending, Job, RawReply, Reply, decode_result, encode_job, memory_file

_RETRY_SECONDS = 1.0
_REPORT_SECONDS = 5.0
_STILLBORN = 3
_AT_ONCE = ChildExit(pid=0, status=0, cpu_seconds=0.0)
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP}


class Jail:
    """Runs jobs one at a time, each in a fresh child of a warmed zygote that it starts, replaces and ends.

    Args:
        require_landlock: Refuse code where the kernel has no Landlock.
        unsafe: Run code even where the system call filter is missing. Never on a network.
        cgroup: Folder in which each zygote makes a control group for itself and its runs.
    """

    command: Sequence[str] = COMMAND
    demanded = ~0
    """Which of the planned layers a child must report; tests that switch a layer off look at the others alone."""

    def __init__(self, require_landlock: bool = False, unsafe: bool = False, cgroup: Path | None = None) -> None:
        self._unsafe = unsafe
        self._lock = threading.Lock()
        self._facts = protection.probe_layers(cgroup)
        on = {fact.name: fact.on for fact in self._facts}
        self._filtered = on["seccomp"]
        self._expected = jail.ALONE | jail.LIMITS | jail.HIDDEN | jail.NO_NEW_PRIVS
        self._expected |= jail.USER * on["user"] | jail.LANDLOCK * on["landlock"]
        self._cgroup = cgroup if cgroup and on[protection.RUN_GROUP] else None
        self.refusal = self._refusal(on, require_landlock)
        self.interrupt: Interrupt | None = None
        self._zygote: Zygote | None = None
        self._spare: Zygote | None = None
        self._closed = False
        self._stillborn = 0
        self._failed_at = -_RETRY_SECONDS
        self._failure = ""
        if not self.refusal:
            kernel.hide_memory()
            self._zygote = self._new_zygote()

    @property
    def layers(self) -> tuple[tuple[str, str], ...]:
        """Each protection with `on`, or the reason why it is off."""
        return tuple((fact.name, fact.state) for fact in self._facts)

    @property
    def facts(self) -> tuple[protection.Layer, ...]:
        return self._facts

    @property
    def zygote_pid(self) -> int | None:
        return self._zygote.pid if self._zygote else None

    def is_warm(self, seconds: float = 0.0) -> bool:
        """True if a job would start at once, after waiting up to *seconds*."""
        with self._lock:
            try:
                return self._zygote is not None and self._zygote.is_warm(seconds)
            except ZygoteGoneError as error:
                self._replace(str(error))
                return False

    def run(self, job: Job) -> Reply:
        """Run *job*. Never raises for anything that the job or the death of a process can cause.

        Raises:
            StoppedError: The `interrupt` asked for it.
        """
        parts = encode_job(job)
        try:
            with memory_file(parts) as source:
                return self.run_raw(source, job).reply
        except OSError as error:
            return Reply(ending="fault", detail=protection.error_text(error))

    def run_raw(self, source: int, limits: Job) -> RawReply:
        """Run the job that the file *source* holds, as `encode_job` writes it; of *limits* only the limits count.

        Raises:
            StoppedError: The `interrupt` asked for it.
        """
        if self.refusal:
            return RawReply(ending="fault", detail=self.refusal)
        if self._closed:
            return RawReply(ending="fault", detail="the jail is closed")
        with self._lock:
            started = time.perf_counter()
            try:
                carried = self._run_in_child(source, limits)
            except ZygoteGoneError as error:
                self._replace(str(error))
                carried = RawReply(ending="fault", detail=f"the zygote ended: {error}"[:2000])
            except OSError as error:
                carried = RawReply(ending="fault", detail=protection.error_text(error))
            return replace(carried, wall_ms=(time.perf_counter() - started) * 1000)

    def bare_fork(self) -> float:
        """Seconds of one bare fork-and-exit of the zygote: the floor that benchmarks compare with."""
        with self._lock:
            return self._living().bare_fork()

    def close(self) -> None:
        """End every process of this jail."""
        with self._lock:
            for zygote in (self._zygote, self._spare):
                if zygote:
                    zygote.close()
            self._zygote = self._spare = None
            self._closed = True
            if self._cgroup:
                groups.sweep_groups(self._cgroup)

    def _refusal(self, on: dict[str, bool], require_landlock: bool) -> str:
        for fact in self._facts:
            waived = self._unsafe and fact.name == "seccomp"
            if fact.weight == "required" and not fact.on and not waived:
                return f"Code cannot run here: {fact.name} is missing: {fact.reason}."
        if require_landlock and not on["landlock"]:
            return "Code cannot run here: Landlock is required by the settings and missing."
        return ""

    def _run_in_child(self, source: int, job: Job) -> RawReply:
        zygote, child = self._start()
        try:
            read_end = self._hand_over(child, job, source)
            with contextlib.closing(ResultPipe(read_end)) as pipe:
                cut = pipe.follow(child, job, self.interrupt)
                blob = pipe.drain()
            result = pipe.ended or decode_result(blob, contents=False)
            # How one ended that was killed from here is known, and nobody waits until its memory is taken down.
            end = _AT_ONCE if cut or pipe.ended else zygote.exit_of(child, _REPORT_SECONDS)
        finally:
            zygote.discard_child(child)
        ending, detail = self._judge(job, result, end, cut)
        return RawReply(ending=ending, blob=blob, detail=detail)

    def _start(self) -> tuple[Zygote, Child]:
        """A zygote and its waiting child; one that died before it was given anything is simply replaced."""
        zygote = self._living()
        try:
            child = zygote.take_child()
        except ZygoteGoneError as error:
            self._replace(str(error))
            zygote = self._living()
            child = zygote.take_child()
        self._stillborn = 0
        return zygote, child

    def _living(self) -> Zygote:
        """The zygote in service; makes and puts in place a fresh one when this one has served long enough."""
        if self._zygote is None:
            if time.monotonic() - self._failed_at < _RETRY_SECONDS:
                raise ZygoteGoneError(self._failure)
            self._zygote = self._new_zygote()
        if self._spare and self._spare_is_warm():
            self._zygote.close()
            self._zygote, self._spare = self._spare, None
        elif self._spare is None and self._zygote.is_old:
            self._spare = self._new_zygote()
        return self._zygote

    def _new_zygote(self) -> Zygote:
        return Zygote((*self.command, str(self._cgroup)) if self._cgroup else self.command)

    def _spare_is_warm(self) -> bool:
        assert self._spare
        try:
            return self._spare.is_warm()
        except ZygoteGoneError:
            self._spare.close()
            self._spare = None
            return False

    def _replace(self, failure: str) -> None:
        """Get rid of a zygote that ended and start the next, now or, after several that never got warm, later."""
        zygote, self._zygote = self._zygote, None
        if zygote is None:
            return
        zygote.close()
        self._stillborn += not zygote.served
        if self._stillborn < _STILLBORN:
            self._zygote = self._new_zygote()
        else:
            self._failed_at, self._failure = time.monotonic(), failure

    @staticmethod
    def _hand_over(child: Child, job: Job, source: int) -> int:
        """Give *child* the job and the write end of a pipe; return the read end."""
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        try:
            head = f"[{os.fstat(source).st_size},{job.seconds}]".encode()
            socket.send_fds(child.channel, [head], [source, write_end])
        except BrokenPipeError:
            pass  # it died while it waited: the exit report says how
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        return read_end

    def _judge(self, job: Job, result: DecodedFrames, end: ChildExit, cut: str) -> tuple[Ending, str]:
        """The ending of a run, from how it ended; what it said counts only for a child that was confined."""
        wanted = self._expected & self.demanded
        died = os.WTERMSIG(end.status) if os.WIFSIGNALED(end.status) else 0
        if result.layers is None:
            how = "was not confined in time" if cut else f"ended before it was confined (status {end.status})"
            return "fault", result.fault or f"the child {how}"
        if wanted & ~result.layers or (self._filtered and not result.filtered):
            return "fault", "the child was not confined as planned"
        if died == signal.SIGSYS:
            return "denied", "a forbidden system call"
        if cut == "deadline":
            return "timeout", f"still running after {min(job.seconds, job.cpu_seconds):g} s"
        if cut:
            return "flood", f"more than {job.output_bytes} bytes of output"
        if end.over_memory:
            return "memory", "its control group had no memory left"
        if died == signal.SIGXCPU or (died == signal.SIGKILL and end.cpu_seconds >= min(1.0, job.seconds) - 0.1):
            return "timeout", f"{end.cpu_seconds:.1f} s of computing"
        if died == signal.SIGKILL:
            return "fault", "the child was killed from outside, as when the machine runs out of memory"
        if died in _CRASHES:
            return "crashed", signal.Signals(died).name
        if result.malformed:
            return "crashed", "what came back has no meaning"
        if not result.ended:
            return "crashed", "the program ended the process"
        return result.ended, ""
