"""Degrading loudly: what is missing is named with its errno and remedy, and refuses code where it is load-bearing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from remote import AS_NOBODY, AS_POWERLESS_ROOT, can_change_user

from app.sandbox import kernel, protection
from app.sandbox.canaries import CANARIES, run_canaries
from app.sandbox.protection import probe_layers
from app.sandbox.wire import Job, Reply
from tests.waiting import SECONDS

SCRIPT = Path(__file__).parent / "degraded.py"
SECCOMP = str(kernel.NUMBERS["seccomp"])
LANDLOCK = str(kernel.LANDLOCK_CREATE_RULESET)
UNSHARE = {"x86_64": "272", "aarch64": "97"}[kernel.MACHINE]
PIDFD_OPEN = "434"
EPERM, ENOSYS = 1, 38


def machine(*wrapper: str, **options: object) -> tuple[str, dict[str, list], str, str, str]:
    command = [*wrapper, sys.executable, str(SCRIPT), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


def test_without_seccomp_code_is_refused_with_the_errno():
    refusal, facts, ending, detail, _ = machine(missing={SECCOMP: ENOSYS})

    assert "seccomp is missing" in refusal
    assert "ENOSYS" in facts["seccomp"][1]
    assert facts["seccomp"][2]
    assert (ending, detail) == ("fault", refusal)


def test_without_seccomp_the_unsafe_setting_keeps_the_other_layers():
    refusal, _, ending, _, forked = machine(missing={SECCOMP: ENOSYS}, unsafe=True)

    assert (refusal, ending) == ("", "done")
    assert forked != "denied"


@pytest.mark.prove
def test_the_unsafe_setting_weakens_nothing_where_seccomp_is_there():
    assert machine(unsafe=True)[-1] == "denied"


def test_without_landlock_and_namespaces_the_filter_holds_with_reasons():
    """Also with the unsafe setting, which is for machines without the filter."""
    refusal, facts, ending, _, forked = machine(missing={LANDLOCK: ENOSYS, UNSHARE: EPERM}, unsafe=True)

    assert (refusal, ending, forked) == ("", "done", "denied")
    assert "ENOSYS" in facts["landlock"][1]
    assert "EPERM" in facts["namespaces"][1]
    assert facts["landlock"][2]


@pytest.mark.prove
@pytest.mark.parametrize("error", [ENOSYS, EPERM, 95])
def test_without_landlock_code_runs_and_the_reason_is_told(error):
    refusal, facts, ending, _, forked = machine(missing={LANDLOCK: error})

    assert (refusal, ending, forked) == ("", "done", "denied")
    on, reason, remedy = facts["landlock"]
    assert not on
    assert f"errno {error}" in reason
    assert remedy


def test_without_landlock_a_setting_refuses_code():
    refusal, _, ending, _, _ = machine(missing={LANDLOCK: ENOSYS}, require_landlock=True)

    assert "Landlock" in refusal
    assert ending == "fault"


@pytest.mark.prove
def test_without_namespaces_code_runs_and_the_reason_is_told():
    refusal, facts, ending, _, forked = machine(missing={UNSHARE: EPERM})

    assert (refusal, ending, forked) == ("", "done", "denied")
    assert "EPERM" in facts["namespaces"][1]


def test_without_pidfds_code_is_refused():
    assert "pidfd" in machine(missing={PIDFD_OPEN: ENOSYS})[0]


def test_a_jail_that_cannot_change_its_user_says_so(nobodys_jail):
    assert "CAP_SETUID" in dict(nobodys_jail.layers)["user"]


@pytest.mark.prove
@pytest.mark.skipif(os.geteuid() != 0 or not can_change_user(), reason="only root can give up its rights")
@pytest.mark.parametrize("wrapper", [AS_NOBODY, AS_POWERLESS_ROOT], ids=["nobody", "root without capabilities"])
def test_without_rights_and_new_privileges_code_runs(wrapper):
    refusal, facts, ending, _, forked = machine(*wrapper)

    assert (refusal, ending, forked) == ("", "done", "denied")
    assert "CAP_SETUID" in facts["user"][1]


def test_every_missing_layer_has_a_reason_and_a_remedy():
    assert all(fact.on or (fact.reason and fact.remedy) for fact in probe_layers())


def test_no_canary_survives_in_a_jail_that_holds(any_jail):
    assert run_canaries(any_jail) == ()
    assert len(CANARIES) >= 20


class Open:
    """A jail without walls: every attack succeeds."""

    def run(self, job: Job) -> Reply:
        del job
        return Reply(ending="done", arrays={"won": np.ones(())})


def test_every_canary_is_noticed_when_it_succeeds():
    assert run_canaries(Open()) == tuple(canary.name for canary in CANARIES)


BUSY_THREADS = """
import sys, threading
from app.sandbox import namespaces

def spin():
    while True:
        pass

sys.setswitchinterval(1e-6)
for _ in range(2):
    threading.Thread(target=spin, daemon=True).start()
for _ in range(100):
    namespaces.missing_namespaces(by_user=True)
print("asked")
"""


def test_a_process_with_busy_threads_may_ask_what_protects_it():
    done = subprocess.run(
        [sys.executable, "-c", BUSY_THREADS], capture_output=True, text=True, check=True, timeout=SECONDS
    )

    assert done.stdout == "asked\n"


GROUPS = {
    "version 2, limited": ("0::/a/b", {"a/b/memory.max": "4294967296"}, True),
    "version 2, limited above": ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "1073741824"}, True),
    "version 2, seen from inside": ("0::/docker/1a", {"memory.max": "1073741824"}, True),
    "version 2, not limited": ("0::/a", {"a/memory.max": "max", "memory.max": "max"}, False),
    "version 2, another's limit": ("0::/a", {"a/memory.max": "max", "b/memory.max": "1"}, False),
    "version 1, limited": ("5:pids:/x\n4:cpu,memory:/a\n0::/", {"memory/a/memory.limit_in_bytes": "4294967296"}, True),
    "version 1, seen from inside": ("4:memory:/docker/1a\n", {"memory/memory.limit_in_bytes": "4294967296"}, True),
    "version 1, not limited": ("4:memory:/a", {"memory/a/memory.limit_in_bytes": "9223372036854771712"}, False),
    "no memory controller": ("5:pids:/x", {}, False),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_limit_of_memory_is_found_in_either_version_of_control_groups(tmp_path, name):
    own, files, limited = GROUPS[name]
    (tmp_path / "own").write_text(own)
    for path, bound in files.items():
        file = tmp_path / "groups" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{bound}\n")

    layer = protection.memory_group(tmp_path / "groups", tmp_path / "own")

    assert layer.on is limited
    assert bool(layer.remedy) is not limited
