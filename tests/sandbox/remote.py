"""Another user's jail: a helper process without root's rights runs the jobs that the test process sends it.

Run as a script, it answers pickled jobs on its standard streams; both ends are ours.
"""

import math
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

from app.sandbox.runner import Jail
from app.sandbox.wire import Job, Reply

NOBODY = "65534"
# The interpreter may lie in a folder that only root may enter; reading files is the one right that is kept.
AS_NOBODY = (
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    "--bounding-set=-all,+dac_read_search",
)  # fmt: skip
AS_POWERLESS_ROOT = (
    "setpriv", "--no-new-privs", "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    "--bounding-set=-all,+dac_read_search",
)  # fmt: skip


def can_change_user() -> bool:
    return shutil.which("setpriv") is not None


class RemoteJail:
    """Has the part of a jail's face that the tests need."""

    def __init__(self, wrapper: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.zygote_pid, self.layers = self._read()

    def run(self, job: Job) -> Reply:
        assert self._process.stdin
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        self._process.communicate()

    def kill(self) -> None:
        """Kill the grader as the kernel would, without a word to anybody."""
        self._process.kill()
        self.close()

    def _read(self):
        return pickle.load(self._process.stdout)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    jail = Jail()
    assert jail.is_warm(600), jail.refusal
    jail._zygote._expires = math.inf  # who asks knows its pid
    pickle.dump((jail.zygote_pid, jail.layers), answers)
    answers.flush()
    while True:
        try:
            job = pickle.load(requests)
        except EOFError:
            break
        pickle.dump(jail.run(job), answers)
        answers.flush()
    jail.close()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
