"""What a running child has left, as the kernel says it: each step of `jail` shows here, whoever started the jail."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from remote import AS_NOBODY, NOBODY, RemoteJail, can_change_user
from running import eventually, running, status

from app.sandbox import jail as steps
from app.sandbox import kernel, protection
from app.sandbox.process import Zygote
from app.sandbox.runner import Jail
from app.sandbox.wire import Job
from tests.waiting import SECONDS

# What root could have beside its rights: groups, rights that an exec would pass on, and a set without one of the three
# that changing the user takes, so that the child stays root.
OWNERS = {
    "root": ("setpriv", "--groups=4,5", "--inh-caps=+chown"),
    "root who cannot change": ("setpriv", "--groups=4,5", "--bounding-set=-setuid"),
    "nobody": AS_NOBODY,
}


as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not can_change_user(), reason="only root can start the jail as somebody else"
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("root", marks=as_root),
        pytest.param("root who cannot change", marks=[as_root, pytest.mark.prove]),
        pytest.param("nobody", marks=as_root),
    ],
)
def child(request: pytest.FixtureRequest) -> Iterator[tuple[str, int, RemoteJail]]:
    """Who started the jail, a running child, and the jail."""
    remote = RemoteJail(OWNERS[request.param])
    with running(remote) as pid:
        yield request.param, pid, remote
    remote.close()


def limits(pid: int) -> dict[str, tuple[str, str]]:
    """Soft and hard limit by name."""
    rows = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {row[:26].strip(): (row[26:47].strip(), row[47:68].strip()) for row in rows}


def test_it_has_no_right_that_others_lack(child):
    owner, pid, _ = child

    rights = {name: int(status(pid)[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd")}

    if owner == "nobody":  # who may not empty the set, and can gain nothing from it: no exec is left
        del rights["CapBnd"]
    assert not any(rights.values()), rights


def test_the_zygote_may_only_change_the_user_of_its_children_and_end_them(child):
    owner, _, jail = child
    needed = (kernel.CAP_SETUID, kernel.CAP_SETGID, kernel.CAP_KILL) if owner == "root" else ()
    kept = sum(1 << one for one in needed)

    rights = {int(status(jail.zygote_pid)[name], 16) for name in ("CapPrm", "CapEff")}

    assert rights == {kept}


def test_its_user_is_nobody_wherever_that_can_be_changed(child):
    owner, pid, _ = child
    users, groups = {
        "root": (set(protection._UIDS), ""),
        "root who cannot change": ({0}, "4 5"),
        "nobody": ({int(NOBODY)}, ""),
    }[owner]

    said = status(pid)

    assert {int(one) for one in (said["Uid"] + " " + said["Gid"]).split()} <= users
    assert said["Groups"] == groups


def test_it_cannot_gain_rights_is_filtered_and_gets_no_huge_pages(child):
    said = status(child[1])

    assert (said["NoNewPrivs"], said["Seccomp"], said["THP_enabled"]) == ("1", "2", "0")


def test_it_holds_its_result_pipe_and_no_other_descriptor(child):
    _, pid, _ = child
    held = {int(one.name): one.readlink() for one in Path(f"/proc/{pid}/fd").iterdir()}

    assert sorted(held) == [0, 1, 2, 3]
    assert {str(held[stream]) for stream in (0, 1, 2)} == {os.devnull}
    assert str(held[3]).startswith("pipe:")


def test_it_stands_alone_in_its_group(child):
    assert os.getpgid(child[1]) == child[1]


def test_every_limit_is_in_force_soft_and_hard(child):
    _, pid, jail = child
    found = limits(pid)
    zygote = status(jail.zygote_pid)
    none = ("0", "0")
    stack = str(steps.STACK_BYTES)

    assert found["Max cpu time"] == (str(int(SECONDS)), str(int(SECONDS)))
    assert found["Max file size"] == found["Max core file size"] == found["Max locked memory"] == none
    assert found["Max processes"] == found["Max open files"] == none
    assert found["Max stack size"] == (stack, stack)
    for limit, size in (("Max address space", "VmSize"), ("Max data size", "VmData")):
        soft, hard = (int(one) for one in found[limit])
        assert soft == hard
        assert math.isclose(soft - steps.MEMORY_BYTES, int(zygote[size].split()[0]) * 1024, abs_tol=16 * 2**20)


def test_nobody_of_its_user_can_read_its_memory(child):
    _, pid, jail = child

    # What can be read belongs to its user; the kernel gives what is hidden to root.
    assert [Path(f"/proc/{one}/mem").stat().st_uid for one in (pid, jail.zygote_pid)] == [0, 0]


@pytest.mark.parametrize("space", ["net", "ipc", "uts"])
def test_network_kernel_objects_and_host_name_are_not_those_of_the_machine(child, space):
    _, pid, jail = child
    if dict(jail.layers)["namespaces"] != "on":
        pytest.skip("this machine gives no namespaces")

    assert Path(f"/proc/{pid}/ns/{space}").readlink() != Path(f"/proc/self/ns/{space}").readlink()


def test_when_the_grader_is_killed_its_zygote_ends_and_so_does_the_run(child):
    """The last that is asked of each."""
    _, pid, remote = child
    remote.kill()

    assert eventually(lambda: not status(remote.zygote_pid))
    assert eventually(lambda: not status(pid))


def test_the_zygote_makes_the_next_child_while_the_last_one_lives(jail: Jail):
    assert jail.is_warm(SECONDS)
    zygote = jail._zygote
    first = zygote.take_child()
    zygote._ask(b"next")
    second = zygote.take_child()

    assert {status(one.pid)["State"][0] for one in (first, second)} <= set("RSD")  # alive, both of them

    second.close()
    zygote.discard_child(first)


@pytest.mark.parametrize("source", ["while True: pass", "import os\nwhile True: os.write(3, bytes(4096))"])
def test_nobody_waits_for_the_end_of_a_run_that_was_cut_off(jail: Jail, monkeypatch: pytest.MonkeyPatch, source: str):
    monkeypatch.setattr(Zygote, "exit_of", lambda *_: pytest.fail("waits"))

    reply = jail.run(Job(driver="probe", header={"source": source}, seconds=2.5, output_bytes=2**20))

    assert reply.ending in {"timeout", "flood"}
