"""Which protections this machine offers, with the errno and the remedy for each that is missing; changes nothing.

The zygote plans its children with it, `doctor` prints it, and a result whose child applied less is refused.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.sandbox import groups, kernel, landlock, namespaces, seccomp
from app.sandbox.jail import ConfinementPlan

_UNBOUNDED = 2**60
"""Version 1 has no word for no limit, but the largest number of pages that it can count."""
RUN_GROUP = "cgroup of runs"
_UIDS = (1_900_000_000, 60_000)
_NEEDED_TO_DROP = {
    "CAP_SETUID": kernel.CAP_SETUID,
    "CAP_SETGID": kernel.CAP_SETGID,
    # Without it nobody could kill a child at its deadline, nor the kernel in the name of a zygote that died.
    "CAP_KILL": kernel.CAP_KILL,
}
TO_CHANGE_USER = tuple(_NEEDED_TO_DROP.values())
_FOR_A_JAIL = (*TO_CHANGE_USER, kernel.CAP_SETPCAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One protection.

    Args:
        weight: What its absence means: `required` refuses code, `strong` warns, `extra` informs.
        reason: Why it is off, with the errno; empty when on.
        remedy: What an operator can do about it.
    """

    name: str
    on: bool
    weight: Literal["required", "strong", "extra"]
    reason: str = ""
    remedy: str = ""

    @property
    def state(self) -> str:
        return "on" if self.on else self.reason


def probe_layers(cgroup: Path | None = None) -> tuple[Layer, ...]:
    """Ask the kernel for each layer; *cgroup* is the folder that is given for groups of zygotes."""
    return (_seccomp(), _fork(), _landlock(), _user(), _namespaces(), run_group(cgroup), memory_group())


def confinement_plan() -> ConfinementPlan:
    """Plan by which children of this process are confined."""
    return ConfinementPlan(
        zygote=os.getpid(),
        uid=_free_uid() if _missing_capabilities() == [] else None,
        ruleset=_ruleset(),
        filter=None if seccomp.missing_seccomp() else seccomp.Filter(),
        address_space=kernel.vm_bytes(),
        private_bytes=kernel.private_bytes(),
        oom_score=kernel.open_oom_score(),
    )


def keep_to_the_jail() -> None:
    """For a grader whose first zygote is there: keep of root's rights what a jail takes, and no network.

    The zygotes to come start with the same, and make do with the empty namespaces that they find.
    """
    if kernel.capabilities():
        with contextlib.suppress(OSError):  # `probe` says why
            namespaces.enter_namespaces(by_user=False)
        kernel.bound_capabilities(*_FOR_A_JAIL)
        kernel.keep_capabilities(*_FOR_A_JAIL)


def error_text(error: OSError) -> str:
    name = errno.errorcode.get(error.errno or 0, "?")
    return f"{error.strerror} ({name}, errno {error.errno})"


def _seccomp() -> Layer:
    error = seccomp.missing_seccomp()
    return Layer(
        name="seccomp",
        on=error is None,
        weight="required",
        reason=error_text(error) if error else "",
        remedy="Use a Linux kernel with CONFIG_SECCOMP_FILTER on x86-64 or arm64; in a container, a seccomp profile "
        "that allows seccomp(2), such as the default one.",
    )


def _landlock() -> Layer:
    try:
        version = landlock.abi()
    except OSError as error:
        remedy = {
            errno.ENOSYS: "Use Linux 5.13 or newer, built with CONFIG_SECURITY_LANDLOCK.",
            errno.EOPNOTSUPP: "Boot with landlock in the list of the kernel parameter lsm=.",
            errno.EPERM: "Allow landlock_create_ruleset and its two siblings in the container's seccomp profile.",
        }.get(error.errno or 0, "")
        return Layer(name="landlock", on=False, weight="strong", reason=error_text(error), remedy=remedy)
    missing = [f"{what} needs ABI {since}" for what, since in (("TCP", 4), ("scopes", 6)) if version < since]
    return Layer(
        name="landlock", on=True, weight="strong", reason=f"ABI {version}; {', '.join(missing) or 'all rights'}"
    )


def _user() -> Layer:
    lacking = _missing_capabilities()
    if lacking:
        reason = f"{', '.join(lacking)} missing ({errno.errorcode[errno.EPERM]}, errno {errno.EPERM})"
    elif _free_uid() is None:
        reason = f"no free user id is mapped ({errno.errorcode[errno.EINVAL]}, errno {errno.EINVAL})"
    else:
        return Layer(name="user", on=True, weight="extra")
    remedy = "Children keep the user of the server. To separate them, start it as root with these capabilities."
    return Layer(name="user", on=False, weight="extra", reason=reason, remedy=remedy)


def _fork() -> Layer:
    """A fork server needs pidfds and SOCK_SEQPACKET, which only Linux 5.9 and newer has."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except AttributeError:
        error = OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    except OSError as raised:
        error = raised
    else:
        return Layer(name="pidfd", on=True, weight="required")
    remedy = "Use Linux 5.9 or newer."
    return Layer(name="pidfd", on=False, weight="required", reason=error_text(error), remedy=remedy)


def _namespaces() -> Layer:
    on_linux = kernel.LINUX
    error = (
        namespaces.missing_namespaces(by_user=bool(_missing_capabilities()))
        if on_linux
        else OSError(errno.ENOSYS, "no Linux")
    )
    if error is None:
        return Layer(name="namespaces", on=True, weight="extra")
    remedy = {
        errno.EPERM: "Allow user namespaces: the sysctls kernel.unprivileged_userns_clone=1 or "
        "kernel.apparmor_restrict_unprivileged_userns=0, or the container's seccomp profile.",
        errno.ENOSPC: "Raise the sysctl user.max_user_namespaces.",
    }.get(error.errno or 0, "Use a kernel with network, IPC, UTS and user namespaces.")
    return Layer(name="namespaces", on=False, weight="extra", reason=error_text(error), remedy=remedy)


def run_group(cgroup: Path | None) -> Layer:
    """Layer of a control group that bounds each zygote with its runs, and counts what process limits leave out."""
    remedy = (
        "Set BACKHAND_CGROUP to a control group that this user may make others in, with the memory controller enabled "
        "for them. Until then tables of pages, and what a run copies, count in the limit around the service alone."
    )
    error = groups.missing_groups(cgroup) if cgroup else None
    if cgroup and not error:
        return Layer(name=RUN_GROUP, on=True, weight="extra")
    reason = f"{cgroup}: {error_text(error)}" if error else "no folder for control groups is given"
    return Layer(name=RUN_GROUP, on=False, weight="extra", reason=reason, remedy=remedy)


def memory_group(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Layer:
    """Layer for the memory of all runs together, bounded from outside; each run has its own limit anyway.

    Args:
        groups: Where control groups are mounted, of version 2, or of version 1 with a folder for each controller.
        own: In which of them this process is: lines such as `0::/system.slice` or `4:memory:/docker/1a2b`.
    """
    remedy = "Bound the memory of the service: `docker run --memory`, or MemoryMax= in its systemd unit."
    try:
        bounds = [bound.read_text().strip() for bound in _memory_bounds(groups, own.read_text()) if bound.exists()]
    except OSError as error:
        return Layer(name="cgroup", on=False, weight="extra", reason=error_text(error), remedy=remedy)
    if any(bound != "max" and int(bound) < _UNBOUNDED for bound in bounds):
        return Layer(name="cgroup", on=True, weight="extra")
    return Layer(name="cgroup", on=False, weight="extra", reason="no memory limit around this process", remedy=remedy)


def _memory_bounds(groups: Path, own: str) -> Iterator[Path]:
    """The files with the limits of a process that is in the groups *own*, and of those around them."""
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "memory" in controllers.split(","):
            mount, file = (groups / "memory", "memory.limit_in_bytes") if controllers else (groups, "memory.max")
            inside = [part for part in path.split("/") if part]
            # A container may see its own group as the mount, under the path that it has outside.
            yield from (mount.joinpath(*inside[:depth]) / file for depth in range(len(inside) + 1))


def _missing_capabilities() -> list[str]:
    if not kernel.LINUX:
        return list(_NEEDED_TO_DROP)
    capabilities = kernel.capabilities()
    return [name for name, bit in _NEEDED_TO_DROP.items() if not capabilities >> bit & 1]


def _free_uid() -> int | None:
    """A user id that is mapped here and that no account is likely to have."""
    return next((uid for uid in _UIDS if _can_map("uid", uid) and _can_map("gid", uid)), None)


def _can_map(kind: str, wanted: int) -> bool:
    rows = [[int(field) for field in line.split()] for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
    return any(first <= wanted < first + count for first, _, count in rows)


def _ruleset() -> bytes | None:
    try:
        return landlock.rights(landlock.abi())
    except OSError:
        return None
