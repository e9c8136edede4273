"""Workers that are forked from a run which has imported the tests, and begin where it stands.

Five interpreters that each import torch, the house and every test spend a minute of processor time on that.
"""

import gc
import importlib
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Never

import pytest
from _pytest.pathlib import import_path
from execnet import XSpec, gateway_io
from execnet.gateway_base import ExecModel, Popen2IO


class Worker:
    """A child that waits for the line which execnet tells a fresh interpreter; *others* are its elder siblings."""

    def __init__(self, others: Sequence["Worker"]) -> None:
        told, self.writing = os.pipe()
        self.reading, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for one in [*others, self]:
                os.close(one.writing)  # else one that the run has left would wait as long as its siblings live
                os.close(one.reading)
            _serve(told, answers)
        os.close(told)
        os.close(answers)


def _serve(told: int, answers: int) -> Never:
    try:
        os.dup2(told, 0)
        os.dup2(answers, 1)
        os.close(told)
        os.close(answers)
        sys.stdin, sys.stdout = os.fdopen(0, "r", 1, closefd=False), os.fdopen(1, "w", 1, closefd=False)
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


class WorkerIO(Popen2IO):
    """The run's end of a worker, with the face of execnet's own."""

    def __init__(self, worker: Worker, execmodel: ExecModel) -> None:
        super().__init__(os.fdopen(worker.writing, "wb"), os.fdopen(worker.reading, "rb"), execmodel)
        self._pid = worker.pid

    def wait(self) -> int | None:
        with suppress(ChildProcessError):
            return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def files(config: pytest.Config) -> Iterator[Path]:
    """What the run will collect."""
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        yield from sorted(path.rglob("test_*.py")) if path.is_dir() else [path]


def import_tests(config: pytest.Config) -> None:
    """What cannot be imported, or not without a warning, is left to the workers, which tell of it."""
    for path in files(config):
        try:
            with warnings.catch_warnings(action="error"):
                import_path(path, mode="importlib", root=config.rootpath, consider_namespace_packages=False)
        except BaseException:
            for name, module in list(sys.modules.items()):
                if getattr(module, "__file__", None) == str(path):
                    del sys.modules[name]


def read_constants() -> None:
    """What hypothesis takes from the text of all modules: where none was kept, a second and a half for each worker."""
    if "hypothesis" in sys.modules:
        importlib.import_module("hypothesis.internal.conjecture.providers")._get_local_constants()


def fork_workers(config: pytest.Config, specs: Sequence[XSpec]) -> None:
    """All of them at once, while the run has one thread. One that crashes is replaced by a fresh interpreter.

    Where lines are counted all are fresh: what a fork has seen before would be counted in it.
    """
    if config.pluginmanager.hasplugin("_cov"):
        return
    gc.disable()  # nearly all that is imported stays, and workers look for garbage once they have collected their tests
    import_tests(config)
    read_constants()
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        gc.freeze()
        workers: list[Worker] = []
        for _ in specs:
            workers.append(Worker(workers))
    gc.enable()
    fresh = gateway_io.create_io
    gateway_io.create_io = lambda spec, execmodel: (
        WorkerIO(workers.pop(0), execmodel) if workers else fresh(spec, execmodel)
    )
