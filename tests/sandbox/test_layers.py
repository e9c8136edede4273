"""The layer matrix: which attack each layer stops by itself, so that nobody removes one believing it idle."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.sandbox import kernel
from app.sandbox.runner import Jail
from app.sandbox.wire import Job
from tests.waiting import SECONDS

SCRIPT = Path(__file__).parent / "without.py"
WON = "\nwon = torch.ones(())"
PLACE = tempfile.TemporaryDirectory(prefix="backhand-layer-", dir="/tmp")
Path(PLACE.name).chmod(0o777)  # what keeps an attack out of it is to be a layer
LIBC = "import ctypes\nlibc = ctypes.CDLL(None)\n"
ADD_KEY = {"x86_64": 248, "aarch64": 217}[kernel.MACHINE]

ATTACKS = {
    "read a file": "open('/etc/hostname').read()" + WON,
    "read a file of root": "open('/etc/shadow').read()" + WON,
    "write a file": f"open('{PLACE.name}/file', 'w').close()\nimport os\nos.unlink('{PLACE.name}/file')" + WON,
    "make a folder": f"import os\nos.mkdir('{PLACE.name}/folder')\nos.rmdir('{PLACE.name}/folder')" + WON,
    "fork": "import os\nif os.fork() == 0:\n    os._exit(0)" + WON,
    "make a socket": "import socket\nsocket.socket()" + WON,
    "make a file in memory": "import os\nos.close(os.memfd_create('x'))" + WON,
    "take a gigabyte": "import mmap\nmmap.mmap(-1, 2**30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)" + WON,
    "signal its parent": "import os\nos.kill(os.getppid(), 0)" + WON,
    "sleep": "import time\ntime.sleep(0.01)" + WON,
    "reach the loopback": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "s.connect(('127.0.0.1', 9))\ns.send(b'x')" + WON,
    "map executable memory": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
    "assert libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0) != 2**64 - 1" + WON,
    "reach a port": "import socket\ns = socket.socket()\ntry:\n    s.connect(('127.0.0.1', 9))\n"
    "except ConnectionRefusedError:\n    pass" + WON,
    "open a port": "import socket\nsocket.socket().bind(('127.0.0.1', 0))" + WON,
    "reach a local socket": f"import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{PLACE.name}')" + WON,
    "make a key": LIBC + f"assert libc.syscall({ADD_KEY}, b'user', b'x', b'x', ctypes.c_size_t(1), -1) > 0" + WON,
    "make shared memory": LIBC
    + "made = libc.shmget(0, 4096, 0o1600)\nassert made >= 0\nlibc.shmctl(made, 0, None)"
    + WON,
    "enter a namespace": LIBC + "assert libc.unshare(0x10000000) == 0" + WON,
    "let itself be read": LIBC + "assert libc.prctl(3, 0, 0, 0, 0) == 1" + WON,
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
        "reach a port",
        "open a port",
        "reach a local socket",
    },
    "limits": {
        "read a file",
        "read a file of root",
        "write a file",
        "make a socket",
        "reach the loopback",
        "reach a port",
        "open a port",
        "reach a local socket",
        "make a file in memory",
        "take a gigabyte",
    },
    "user": {"read a file of root", "signal its parent", "trace its parent", "let itself be read"},
    "namespaces": {"reach the loopback", "reach a port", "reach a local socket"},
    "hide": {"let itself be read"},
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the layers show apart only where root has rights to lose")


Jails = Callable[..., Jail]


@pytest.fixture(scope="module")
def jail_with(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jails]:
    """Gives the jail whose next runs have these layers and no others: one of two, with namespaces and without."""
    place = tmp_path_factory.mktemp("layers")
    started: dict[bool, Jail] = {}

    def start(name: str) -> Jail:
        jail = Jail.__new__(Jail)
        jail.command = (sys.executable, "-I", "-B", str(SCRIPT), str(place / name))
        jail.__init__()
        assert jail.is_warm(SECONDS), jail._failure
        return jail

    def given(*layers: str, demanded: int = 0) -> Jail:
        apart = "namespaces" in layers
        (place / str(apart)).write_text(",".join(layers))
        if apart not in started:
            started[apart] = start(str(apart))
        jail = started[apart]
        jail.demanded, jail._filtered = demanded, "seccomp" in layers
        return jail

    yield given
    for jail in started.values():
        jail.close()


def won(jail: Jail) -> set[str]:
    """The attacks that succeed, on a machine with a local socket that anybody may reach."""
    with socket.socket(socket.AF_UNIX) as near:
        near.bind(f"\0{PLACE.name}")
        near.listen(8)
        return _won(jail)


def _won(jail: Jail) -> set[str]:
    found = set()
    for name, source in ATTACKS.items():
        reply = jail.run(Job(driver="probe", header={"source": source, "names": ["won"]}, seconds=SECONDS))
        assert reply.ending != "fault", reply.detail
        if "won" in reply.arrays:
            found.add(name)
    return found


@needs_root
def test_with_no_layer_at_all_every_attack_succeeds(jail_with: Jails):
    assert won(jail_with("none")) == set(ATTACKS)


@needs_root
@pytest.mark.parametrize("layer", STOPS)
def test_each_layer_alone_stops_what_it_is_for(layer, jail, jail_with: Jails):
    if dict(jail.layers).get(layer, "on") != "on":
        pytest.skip(f"{layer} is missing here")

    assert set(ATTACKS) - won(jail_with(layer)) == STOPS[layer]


@needs_root
def test_without_the_filter_the_other_layers_still_hold_most(jail_with: Jails):
    left = won(jail_with("landlock", "limits", "user", "hide", "namespaces"))

    assert left <= {"sleep", "map executable memory", "make a key", "make shared memory", "enter a namespace"}


def test_a_child_that_applied_less_than_planned_is_a_fault(jail_with: Jails):
    jail = jail_with("seccomp", "limits", "hide", demanded=Jail.demanded)

    reply = jail.run(Job(driver="probe", header={"source": "y = torch.ones(1)", "names": ["y"]}))

    expected = "fault" if dict(jail.layers)["landlock"] == "on" else "done"
    assert reply.ending == expected


@needs_root
def test_a_child_without_the_filter_is_a_fault_whatever_else_it_says(jail_with: Jails):
    jail = jail_with("landlock", "limits", "user", "hide")
    jail._filtered = True

    reply = jail.run(Job(driver="probe", header={"source": "y = torch.ones(1)", "names": ["y"]}))

    assert (reply.ending, reply.detail) == ("fault", "the child was not confined as planned")


def test_a_zygote_that_cannot_start_is_a_fault_with_the_reason():
    jail = Jail.__new__(Jail)
    jail.command = (sys.executable, "-I", "-B", "-c", "import sys; sys.exit(3)")
    jail.__init__()

    reply = jail.run(Job(driver="probe", header={"source": ""}))
    again = jail.run(Job(driver="probe", header={"source": ""}))
    jail.close()

    assert (reply.ending, again.ending) == ("fault", "fault")
    assert "zygote" in reply.detail
