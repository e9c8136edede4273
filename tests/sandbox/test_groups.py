"""A control group around a zygote and its runs: in the kernel that is there, and in folders that stand for others."""

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from running import eventually, running

from app.sandbox import groups, protection
from app.sandbox.runner import Jail
from app.sandbox.wire import Job
from tests.waiting import SECONDS

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A group in which others can be made, with the memory controller."""
    for mount in MOUNTS:
        one = mount / f"backhand-test-{uuid.uuid4().hex}"
        with contextlib.suppress(OSError):
            one.mkdir()
            if any((one / name).exists() for name in ("memory.max", "memory.limit_in_bytes")):
                yield one
                assert eventually(partial(gone, one))
                return
            gone(one)
    pytest.skip("no control group with the memory controller can be made here: that takes root, or delegation")


def gone(one: Path) -> bool:
    groups.sweep_groups(one)
    with contextlib.suppress(OSError):
        one.rmdir()
    return not one.exists()


@contextlib.contextmanager
def jail_in(folder: Path | None) -> Iterator[Jail]:
    jail = Jail(cgroup=folder)
    try:
        assert jail.is_warm(SECONDS)
        yield jail
    finally:
        jail.close()


@pytest.fixture(scope="module")
def jail(folder: Path) -> Iterator[Jail]:
    with jail_in(folder) as made:
        yield made


# Address space is bounded; the tables of what is mapped and given back again are not counted there.
TABLES = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
n, stride = 0, 64 * 2**20
while stride >= 8192:
    p = libc.mmap(None, stride, 3, 0x4022, -1, 0)
    if p == 2**64 - 1:
        stride //= 2
        continue
    ctypes.memset(p, 1, 1)
    libc.munmap(p + 4096, stride - 4096)
    n += 1
"""


def test_a_zygote_and_its_runs_are_in_a_bounded_group_without_the_grader(folder, jail):
    with running(jail) as child:
        (group,) = folder.glob("backhand-*")
        inside = (group / "cgroup.procs").read_text().split()

        assert {str(child), str(jail.zygote_pid)} <= set(inside)
        assert str(os.getpid()) not in inside
        assert str(groups.GROUP_BYTES) in [file.read_text().strip() for file in group.glob("memory.*max*")] + [
            file.read_text().strip() for file in group.glob("memory.limit_in_bytes")
        ]


def test_tables_of_pages_count_and_end_the_run_alone(folder, jail):
    """The last that is asked of this jail: its group is bounded from now on."""
    zygote = jail.zygote_pid
    bound(folder, used(folder) + 128 * 2**20)
    reply = jail.run(Job(driver="probe", header={"source": TABLES}, seconds=SECONDS, cpu_seconds=20))
    after = jail.run(Job(driver="probe", header={"source": "y = torch.ones(2)", "names": ["y"]}))

    assert (reply.ending, reply.detail) == ("memory", "its control group had no memory left")
    assert (after.ending, jail.zygote_pid) == ("done", zygote)


def bound(folder: Path, count: int) -> None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (folder / name).exists():
            (folder / name).write_text(str(count))


def used(folder: Path) -> int:
    return next(
        int((folder / name).read_text())
        for name in ("memory.current", "memory.usage_in_bytes")
        if (folder / name).exists()
    )


def test_only_groups_of_a_zygote_that_is_gone_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f"backhand-{ended.pid}").mkdir()
    (tmp_path / f"backhand-{os.getpid()}").mkdir()

    groups.sweep_groups(tmp_path)

    assert [one.name for one in tmp_path.iterdir()] == [f"backhand-{os.getpid()}"]


@pytest.mark.parametrize("name", ["memory.events", "memory.oom_control"])
def test_that_the_kernel_ended_a_run_for_its_memory_is_told_once(tmp_path, name, monkeypatch):
    group = made_by_a_kernel(tmp_path, name, monkeypatch)

    assert not group.ran_out()
    (tmp_path / f"backhand-{os.getpid()}" / name).write_text("oom_kill_disable 0\noom_kill 1\n")
    assert group.ran_out()
    assert not group.ran_out()


def made_by_a_kernel(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> groups.ControlGroup:
    """A group in which the files are that a kernel puts there."""
    mkdir = Path.mkdir

    def filled(self: Path) -> None:
        mkdir(self)
        (self / "memory.max").write_text("max")
        (self / name).write_text("oom_kill_disable 0\noom_kill 0\n")

    monkeypatch.setattr(Path, "mkdir", filled)
    return groups.ControlGroup(folder)


@pytest.mark.parametrize(
    ("given", "reason"),
    [(None, "no folder for"), (Path("/nowhere"), "ENOENT"), ("plain", "ENODEV")],
    ids=["none", "not there", "no controller"],
)
def test_where_no_group_can_be_had_the_reason_and_cure_are_told(tmp_path, given, reason):
    folder = tmp_path if given == "plain" else given
    layer = protection.run_group(folder)

    assert not layer.on
    assert reason in layer.reason
    assert "BACKHAND_CGROUP" in layer.remedy


@pytest.mark.prove
def test_in_a_folder_without_the_controller_code_runs(tmp_path):
    with jail_in(tmp_path) as jail:
        assert jail.run(Job(driver="probe", header={"source": ""})).ending == "done"
        assert (protection.RUN_GROUP, protection.run_group(tmp_path).state) in jail.layers
