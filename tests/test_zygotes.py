"""Jails of tests are forked from one that is warm, and are jails; those of the tests of the jail begin as in life."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from app.sandbox.process import COMMAND, Zygote
from app.sandbox.runner import Jail
from app.sandbox.wire import Job
from tests.waiting import SECONDS, until
from tests.zygotes import Forked, as_in_life

LOOKS = "import sys\ny = torch.ones(1) * any(one in sys.modules for one in ('pytest', 'execnet', 'app.store'))"


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_a_jail_that_is_shared_is_forked_and_confines_as_any(jail: Jail) -> None:
    assert "tests.zygote_server" in command_of(jail.zygote_pid)
    forbidden = jail.run(Job(driver="probe", header={"source": "import os\nos.fork()"}))
    assert forbidden.ending == "denied"


def test_a_forked_zygote_holds_nothing_of_the_tests(jail: Jail) -> None:
    assert jail.run(Job(driver="probe", header={"source": LOOKS, "names": ["y"]})).arrays["y"] == 0


def test_a_forked_zygote_that_is_killed_is_gone_for_its_grader() -> None:
    zygote = Zygote()
    assert isinstance(zygote._process, Forked)
    assert zygote.is_warm(SECONDS)

    os.kill(zygote.pid, signal.SIGKILL)

    zygote._process.wait(SECONDS)
    zygote.close()


def test_a_forked_zygote_is_waited_for_no_longer_than_was_said() -> None:
    zygote = Zygote()
    assert zygote.is_warm(SECONDS)

    with pytest.raises(subprocess.TimeoutExpired):
        zygote._process.wait(0)

    zygote.close()


def test_as_in_life_a_zygote_is_an_interpreter_of_its_own() -> None:
    with as_in_life():
        zygote = Zygote()

    until(lambda: command_of(zygote.pid))  # an interpreter begins, and then has words
    assert command_of(zygote.pid).split("\0")[1:5] == [*COMMAND[1:]]
    zygote.close()
