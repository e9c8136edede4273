"""In containers the jail holds too: without capabilities, without new privileges, behind a filter like Docker's.

bubblewrap stands in for Docker, and runc, which is what Docker starts. What each container takes away is checked from
inside it, so that a container that took nothing away proves nothing. The one that is most used is in `make test`, all
other forms are in `make prove`.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from remote import can_change_user

from app.sandbox import protection, seccomp

ROOT = Path(__file__).resolve().parents[2]
ENTRY = Path(__file__).parent / "contained.py"
SECONDS = 600
ENDINGS = {
    "honest": "done",
    "fork": "denied",
    "read a file": "error",
    "write a file": "error",
    "make a socket": "denied",
    "enter a namespace": "denied",
    "take all memory": "memory",
    "never end": "timeout",
}
HERE = {layer.name: layer.on for layer in protection.probe_layers()}
EPERM, ENOSYS = 1, 38

# What Docker's documentation lists as blocked by its default profile, and what has come since; by x86-64 number.
BLOCKED = {
    "acct": 163, "add_key": 248, "bpf": 321, "clock_settime": 227, "create_module": 174, "delete_module": 176,
    "fanotify_init": 300, "finit_module": 313, "fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433,
    "get_mempolicy": 239, "init_module": 175, "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425,
    "ioperm": 173, "iopl": 172, "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250,
    "lookup_dcookie": 212, "mbind": 237, "migrate_pages": 256, "mount": 165, "mount_setattr": 442, "move_mount": 429,
    "move_pages": 279, "open_by_handle_at": 304, "open_tree": 428, "perf_event_open": 298, "pidfd_getfd": 438,
    "pivot_root": 155, "process_madvise": 440, "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101,
    "quotactl": 179, "reboot": 169, "request_key": 249, "set_mempolicy": 238, "setdomainname": 171,
    "sethostname": 170, "setns": 308, "settimeofday": 164, "swapoff": 168, "swapon": 167, "syslog": 103,
    "umount2": 166, "unshare": 272, "uselib": 134, "userfaultfd": 323, "ustat": 136, "vhangup": 153,
}  # fmt: skip
LANDLOCK = {"landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446}
CLONE, CLONE3, NEW_NAMESPACES, FUTURE = 56, 435, 0x7E020000, 450
DOCKERS_CAPABILITIES = (
    "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL "
    "AUDIT_WRITE"
)


def dockers_filter(*more: int) -> bytes:
    """A program like Docker's default profile: a list of calls answers EPERM, and so does whatever is newer than it."""
    refuse, allow = (0x06, 0, 0, 0x00050000 | EPERM), (0x06, 0, 0, seccomp.ALLOW)
    code = [(0x20, 0, 0, 0)]
    for number in (*BLOCKED.values(), *more):
        code += [(0x15, 0, 1, number), refuse]
    code += [(0x15, 0, 1, CLONE3), (0x06, 0, 0, 0x00050000 | ENOSYS)]
    code += [(0x35, 0, 1, FUTURE), refuse]
    code += [(0x15, 0, 3, CLONE), (0x20, 0, 0, 16), (0x45, 0, 1, NEW_NAMESPACES), refuse]
    return seccomp.assemble([*code, allow])


def asked(command: list[str], **options: object) -> dict:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, **options)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def holds(said: dict) -> None:
    """The jail runs what is honest, stops what is not, and the doctor says that it may run."""
    assert said["refusal"] == ""
    assert said["endings"] == ENDINGS
    assert said["won"] == []
    status, text = said["doctor"]
    assert status == 0, text
    assert "Code runs in the jail." in text
    for name, state in said["layers"].items():
        assert state == "on" or f"{name}: {state}" in text


def bubblewrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        pytest.skip("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
    probe = subprocess.run([found, "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"bubblewrap does not work here: {probe.stderr.strip()}")
    return found


# Everything is read-only, and the interpreter is reachable where it lies in a folder that only its owner may enter.
NEEDED = (sys.base_prefix, sys.prefix, str(ROOT))
HOMES = ("/root", "/home", "/tmp")
FOLDERS = sorted({str(one) for path in NEEDED for one in Path(path).parents if str(one).startswith(HOMES)} - {*HOMES})
READ_ONLY = [
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    *(word for home in HOMES if Path(home).exists() for word in ("--tmpfs", home)),
    *(word for folder in FOLDERS for word in ("--perms", "0755", "--dir", folder)),
    *(word for path in NEEDED for word in ("--ro-bind", path, path)),
    "--chdir", str(ROOT), "--unsetenv", "HOME", "--die-with-parent", "--new-session",
]  # fmt: skip
PYTHON = [sys.executable, "-B", str(ENTRY)]
NOBODY = [
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
    "--no-new-privs",
]  # fmt: skip
NO_CAPABILITIES = ["--cap-drop", "ALL"]
OWN_USER = ["--unshare-user", "--uid", "1000", "--gid", "1000"]
CONTAINERS = {
    "without capabilities": NO_CAPABILITIES,
    "in a user namespace, as another uid": [*OWN_USER, *NO_CAPABILITIES],
    "without user namespaces": [*OWN_USER, *NO_CAPABILITIES, "--disable-userns"],
    "with everything unshared": ["--unshare-all", "--unshare-user", *NO_CAPABILITIES],
}


@pytest.mark.prove
@pytest.mark.parametrize("container", CONTAINERS)
def test_in_bubblewrap_the_jail_holds(container: str) -> None:
    options = CONTAINERS[container]

    said = asked([bubblewrap(), *READ_ONLY, *options, *PYTHON])

    holds(said)
    assert (said["capabilities"], said["no_new_privs"]) == (0, 1)
    assert said["layers"]["user"].startswith("CAP_SETUID")
    if "--disable-userns" in options:
        assert "ENOSPC" in said["layers"]["namespaces"]
    if "--uid" in options:
        assert said["uid"] == 1000


@pytest.mark.prove
@pytest.mark.skipif(os.geteuid() != 0 or not can_change_user(), reason="only root can become another user with setpriv")
def test_as_a_user_without_rights_on_a_read_only_root_the_jail_holds() -> None:
    said = asked([bubblewrap(), *READ_ONLY, *NOBODY, *PYTHON])

    holds(said)
    assert (said["uid"], said["capabilities"], said["no_new_privs"]) == (65534, 0, 1)


@contextmanager
def program(code: bytes) -> Iterator[int]:
    """A descriptor from which bubblewrap reads a filter."""
    with tempfile.TemporaryFile() as file:
        file.write(code)
        file.seek(0)
        yield file.fileno()


x86_only = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of the calls are those of x86-64")


@pytest.mark.prove
@x86_only
@pytest.mark.parametrize(
    "landlock",
    [pytest.param(True, id="of today"), pytest.param(False, id="from before Landlock")],
)
def test_behind_a_filter_like_dockers_the_jail_holds(landlock: bool) -> None:
    blocked = () if landlock else LANDLOCK.values()
    with program(dockers_filter(*blocked)) as code:
        command = [bubblewrap(), *READ_ONLY, *NO_CAPABILITIES, "--seccomp", str(code), *PYTHON]

        said = asked(command, pass_fds=[code])

    holds(said)
    assert said["filters"] == 1
    assert "EPERM" in said["layers"]["namespaces"]
    if landlock and HERE["landlock"]:
        assert said["layers"]["landlock"] == "on"
    elif not landlock:
        assert "EPERM" in said["layers"]["landlock"]
        assert "Allow landlock_create_ruleset" in said["doctor"][1]


@x86_only
@pytest.mark.prove
def test_behind_a_filter_that_forbids_filters_code_is_refused() -> None:
    with program(dockers_filter(317)) as code:
        command = [bubblewrap(), *READ_ONLY, *NO_CAPABILITIES, "--seccomp", str(code), *PYTHON]

        said = asked(command, pass_fds=[code])

    assert "seccomp is missing" in said["refusal"]
    assert set(said["endings"].values()) == {"fault"}
    assert said["doctor"][0] == 1


MASKED = ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/scsi"]
READ_ONLY_PATHS = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
BINDS = ["/usr", "/bin", "/lib", "/lib64", "/etc", *NEEDED]


def bundle(folder: Path, *, uid: int, capabilities: str) -> Path:
    """What `docker run --read-only` would hand to runc."""
    names = [f"CAP_{name}" for name in capabilities.split()]
    system = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=1777"]},
    ]
    bound = [
        {"destination": path, "type": "bind", "source": path, "options": ["rbind", "ro"]}
        for path in BINDS
        if Path(path).exists()
    ]
    config = {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": uid, "gid": uid},
            "args": PYTHON,
            "env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"],
            "cwd": str(ROOT),
            "noNewPrivileges": True,
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), names),
        },
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "container",
        "mounts": [*system, *bound],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
            "maskedPaths": MASKED,
            "readonlyPaths": READ_ONLY_PATHS,
            "seccomp": {
                "defaultAction": "SCMP_ACT_ALLOW",
                "syscalls": [
                    {"names": list(BLOCKED), "action": "SCMP_ACT_ERRNO", "errnoRet": EPERM},
                    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS},
                    *(
                        {
                            "names": ["clone"],
                            "action": "SCMP_ACT_ERRNO",
                            "errnoRet": EPERM,
                            "args": [{"index": 0, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"}],
                        }
                        for bit in (1 << place for place in range(32))
                        if bit & NEW_NAMESPACES
                    ),
                ],
            },
        },
    }
    # The mount points must be there before the root is read-only.
    for mount in config["mounts"]:
        (folder / "rootfs" / mount["destination"].lstrip("/")).mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def runc(folder: Path) -> dict:
    found = shutil.which("runc")
    if found is None:
        pytest.skip("runc is not installed (Debian: apt-get install runc)")
    if os.geteuid() != 0:
        pytest.skip("runc is tested as root alone; without root it needs subordinate user ids")
    command = [found, "--root", str(folder / "state"), "run", "--bundle", str(folder), f"backhand-{uuid.uuid4().hex}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if "runc run failed" in done.stderr and "cgroup" in done.stderr:
        pytest.skip(f"runc cannot make a control group here: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.prove
@pytest.mark.parametrize("uid", [0, 1000], ids=["as root", "as another user"])
def test_in_runc_with_all_capabilities_dropped_the_jail_holds(tmp_path: Path, uid: int) -> None:
    said = runc(bundle(tmp_path, uid=uid, capabilities=""))

    holds(said)
    assert (said["uid"], said["capabilities"], said["no_new_privs"]) == (uid, 0, 1)
    assert said["filters"] == 1
    assert "EPERM" in said["layers"]["namespaces"]


def test_in_runc_with_docker_capabilities_children_change_user(tmp_path: Path) -> None:
    said = runc(bundle(tmp_path, uid=0, capabilities=DOCKERS_CAPABILITIES))

    holds(said)
    assert said["layers"]["user"] == "on"
    assert "EPERM" in said["layers"]["namespaces"]
