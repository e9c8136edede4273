"""A control group around each zygote, where the operator gives a folder for them: it counts what limits leave out.

The kernel's tables for the memory of a process, and what a run copies of its zygote, are in no limit of a process.
A group for each run would bound them more closely, but to move a process into one takes longer than a run.
"""

import contextlib
import errno
import os
import re
from pathlib import Path

from app.sandbox import kernel

GROUP_BYTES = 2**30
"""A zygote, a run at its worst, and what is left of the run before, whose memory is being taken down."""
_BOUNDS = (
    ("memory.max", GROUP_BYTES),
    ("memory.swap.max", 0),
    ("memory.limit_in_bytes", GROUP_BYTES),  # from here in version 1; swap can be bounded after memory only
    ("memory.memsw.limit_in_bytes", GROUP_BYTES),
)
_COUNTS = ("memory.events", "memory.oom_control")


class ControlGroup:
    """A group that this process makes in *folder*, bounds, and is in from now on, with all children to come.

    Raises:
        OSError: The folder does not allow it, or has no memory controller for its groups.
    """

    def __init__(self, folder: Path) -> None:
        group = folder / f"backhand-{os.getpid()}"
        with contextlib.suppress(
            OSError
        ):  # version 1 has no such file; where it is not ours, it may be enabled already
            os.write(os.open(folder / "cgroup.subtree_control", os.O_WRONLY), b"+memory")
        group.mkdir()
        files = [(group / name, bound) for name, bound in _BOUNDS if (group / name).exists()]
        if not files:
            raise OSError(errno.ENODEV, f"the memory controller is not enabled for groups in {folder}")
        for file, bound in files:
            file.write_text(str(bound))
        (group / "cgroup.procs").write_text("0")
        self._counts = [os.open(group / name, os.O_RDONLY) for name in _COUNTS if (group / name).exists()]
        self._ended = 0

    def ran_out(self) -> bool:
        """True if the kernel has ended a process for lack of memory since the last call."""
        events = b"".join(os.pread(count, 4096, 0) for count in self._counts)
        before, self._ended = self._ended, sum(map(int, re.findall(rb"^oom_kill (\d+)", events, re.MULTILINE)))
        return self._ended > before


def missing_groups(folder: Path) -> OSError | None:
    """Error that keeps this process from making and entering a group in *folder*, or None; a child process tries it.

    It tries without root's rights, since a grader whose zygote has to be replaced has none for this.
    """
    pid = os.fork()
    if pid == 0:
        try:
            kernel.keep_capabilities()
            ControlGroup(folder)
        except OSError as error:
            os._exit(error.errno or 255)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    sweep_groups(folder)
    number = os.waitstatus_to_exitcode(status)
    return OSError(number, os.strerror(number)) if number > 0 else None


def sweep_groups(folder: Path) -> None:
    """Remove the groups of zygotes that are gone; one in which a run is still dying stays for the next time."""
    for group in folder.glob("backhand-*"):
        if not Path("/proc", group.name.removeprefix("backhand-")).exists():
            with contextlib.suppress(OSError):
                group.rmdir()
