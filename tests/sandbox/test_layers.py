"""The layer matrix: which attack each layer stops by itself, so that nobody removes one believing it idle."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.sandbox.runner import Jail
from app.sandbox.wire import Job

SCRIPT = Path(__file__).parent / "without.py"
WON = "\nwon = torch.ones(())"

ATTACKS = {
    "read a file": "open('/etc/hostname').read()" + WON,
    "read a file of root": "open('/etc/shadow').read()" + WON,
    "write a file": "open('/tmp/backhand-layer', 'w').close()\nimport os\nos.unlink('/tmp/backhand-layer')" + WON,
    "make a folder": "import os\nos.mkdir('/tmp/backhand-layer')\nos.rmdir('/tmp/backhand-layer')" + WON,
    "fork": "import os\nif os.fork() == 0:\n    os._exit(0)" + WON,
    "make a socket": "import socket\nsocket.socket()" + WON,
    "make a file in memory": "import os\nos.close(os.memfd_create('x'))" + WON,
    "take a gigabyte": "y = bytearray(2**30)" + WON,
    "signal its parent": "import os\nos.kill(os.getppid(), 0)" + WON,
    "sleep": "import time\ntime.sleep(0.01)" + WON,
    "reach the loopback": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "s.connect(('127.0.0.1', 9))\ns.send(b'x')" + WON,
    "map executable memory": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
    "assert libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0) != 2**64 - 1" + WON,
    "trace its parent": "import ctypes, os\nassert ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0" + WON,
}

STOPS = {
    "seccomp": set(ATTACKS) - {"take a gigabyte"},
    "landlock": {
        "read a file",
        "read a file of root",
        "write a file",
        "make a folder",
        "trace its parent",
        "signal its parent",
    },
    "limits": {
        "read a file",
        "read a file of root",
        "write a file",
        "make a socket",
        "reach the loopback",
        "make a file in memory",
        "take a gigabyte",
    },
    "user": {"read a file of root", "signal its parent", "trace its parent"},
    "namespaces": {"reach the loopback"},
    "hide": set(),  # it protects the child's memory from others, and ends it with its parent: see test_runner
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the layers show apart only where root has rights to lose")


@contextmanager
def jail_with(*layers: str) -> Iterator[Jail]:
    jail = Jail.__new__(Jail)
    jail.command = (sys.executable, "-I", "-B", str(SCRIPT), ",".join(layers))
    jail.demanded = 0
    jail.__init__()
    jail._filtered = "seccomp" in layers
    assert jail.is_warm(60), jail._failure
    yield jail
    jail.close()


def won(jail: Jail) -> set[str]:
    """The attacks that succeed."""
    found = set()
    for name, source in ATTACKS.items():
        reply = jail.run(Job(driver="probe", header={"source": source, "names": ["won"]}, seconds=5))
        assert reply.ending != "fault", reply.detail
        if "won" in reply.arrays:
            found.add(name)
    return found


@needs_root
def test_with_no_layer_at_all_every_attack_succeeds():
    with jail_with("none") as jail:
        assert won(jail) == set(ATTACKS)


@needs_root
@pytest.mark.parametrize("layer", STOPS)
def test_each_layer_alone_stops_what_it_is_for(layer, jail):
    if dict(jail.layers).get(layer, "on") != "on":
        pytest.skip(f"{layer} is missing here")
    with jail_with(layer) as only:
        stopped = set(ATTACKS) - won(only)

    assert stopped == STOPS[layer]


@needs_root
def test_without_the_filter_the_other_layers_still_hold_most():
    with jail_with("landlock", "limits", "user", "hide", "namespaces") as jail:
        left = won(jail)

    assert left <= {"sleep", "map executable memory"}


def test_a_child_that_applied_less_than_planned_is_a_fault():
    jail = Jail.__new__(Jail)
    jail.command = (sys.executable, "-I", "-B", str(SCRIPT), "seccomp,limits,hide")
    jail.__init__()

    reply = jail.run(Job(driver="probe", header={"source": "y = torch.ones(1)", "names": ["y"]}))
    jail.close()

    expected = "fault" if dict(jail.layers)["landlock"] == "on" else "done"
    assert reply.ending == expected


def test_a_zygote_that_cannot_start_is_a_fault_with_the_reason():
    jail = Jail.__new__(Jail)
    jail.command = (sys.executable, "-I", "-B", "-c", "import sys; sys.exit(3)")
    jail.__init__()

    reply = jail.run(Job(driver="probe", header={"source": ""}))
    again = jail.run(Job(driver="probe", header={"source": ""}))
    jail.close()

    assert (reply.ending, again.ending) == ("fault", "fault")
    assert "zygote" in reply.detail
