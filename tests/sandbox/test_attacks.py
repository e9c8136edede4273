"""Every attack of the catalogue ends as its file says and gains nothing, gate or no gate; an honest run then passes.

Each third shape is tried as an unprivileged user, all others as who runs the tests; `make prove` tries all as both.
While nothing changes that they depend on, `make test` tries a twelfth, by turns.
"""

import ctypes
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from catalogue import FAMILIES, FOLDER, Attack, attacks, ending, one_of_each_shape
from proved_attacks import are_proved, keep
from remote import NOBODY, RemoteJail, can_change_user
from running import children, eventually

from app.sandbox import protection
from app.sandbox.gate import find_refusal
from app.sandbox.runner import Jail
from app.sandbox.wire import Job, Reply
from tests.waiting import SECONDS

ATTACKS = attacks()
AS_NOBODY = one_of_each_shape(ATTACKS)[::3] if os.geteuid() == 0 and can_change_user() else []
"""Tried as another user than the rest, where the tests may become one."""
WAITS_SECONDS = (0.5, 20.0, SECONDS)
"""Given to an attack that may wait for ever, one after the other until it came to what it tries."""
X = np.arange(16.0).reshape(4, 4) / 16
HONEST = Job(driver="probe", header={"source": "y = torch.tanh(x @ x)", "names": ["y"]}, arrays={"x": X})
PLACES = ["/tmp", "/dev/shm", "/", str(Path.cwd()), str(Path.home())]
KERNEL_OBJECTS = {kind: Path("/proc/sysvipc") / kind for kind in ("shm", "sem", "msg")}
USERS = {os.getuid(), int(NOBODY), *protection._UIDS}
"""As whom attacks run; another user's database has shared memory too, and it comes and goes."""
HELD: set[tuple[str, type[Jail | RemoteJail]]] = set()
"""The attacks that gained nothing, and in which jail."""


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """That all were tried is kept, by a digest of what they depend on."""
    yield
    if len(HELD) == 2 * len(ATTACKS):
        keep()


def traces() -> tuple[object, ...]:
    """What a run could leave behind on the machine."""
    files = [sorted(path.name for path in Path(place).glob("*backhand-attack*")) for place in PLACES]
    objects = [(kind, row) for kind, path in KERNEL_OBJECTS.items() if path.exists() for row in made_by(path, USERS)]
    return files, objects


def made_by(table: Path, users: set[int]) -> list[str]:
    """The ids of the kernel objects in *table* that one of *users* made."""
    head, *rows = [line.split() for line in table.read_text().splitlines()]
    return [row[1] for row in rows if int(row[head.index("cuid")]) in users]


def tried(jail: Jail | RemoteJail, attack: Attack) -> Reply:
    """How *attack* ended; on a busy machine a short time may be over before a run has begun."""
    for seconds in WAITS_SECONDS if attack.is_endless else WAITS_SECONDS[-1:]:
        reply = jail.run(replace(attack.job(seconds), arrays={"x": X}))
        assert "won" not in reply.arrays
        if reply.ending != "fault":
            break
    return reply


def gains_nothing(jail: Jail | RemoteJail, attack: Attack) -> None:
    before = traces()

    reply = tried(jail, attack)

    assert ending(reply) in attack.outcomes, (reply.detail, dict(reply.texts))

    honest = jail.run(HONEST)

    assert honest.ending == "done", honest.detail
    assert np.allclose(honest.arrays["y"], np.tanh(X @ X))
    assert eventually(lambda: len(children(jail.zygote_pid)) <= 1)  # what is dying is not waited for
    assert traces() == before
    HELD.add((attack.name, type(jail)))


def often(*, as_nobody: bool) -> list[object]:
    """All attacks; those that are tried as the other user are left to `make prove`."""
    in_turn = pytest.mark.in_turn(are_proved())
    return [
        pytest.param(one, id=one.name, marks=pytest.mark.prove if (one in AS_NOBODY) != as_nobody else in_turn)
        for one in ATTACKS
    ]


@pytest.mark.parametrize("attack", often(as_nobody=False))
def test_an_attack_gains_nothing_and_the_next_run_is_honest(attack, jail):
    gains_nothing(jail, attack)


@pytest.mark.parametrize("attack", often(as_nobody=True))
def test_without_roots_rights_an_attack_gains_nothing_either(attack, nobodys_jail):
    gains_nothing(nobodys_jail, attack)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_gate_knows_what_it_lets_through(attack):
    assert (find_refusal(attack.source) is None) == attack.passes_gate


@pytest.mark.skipif(not KERNEL_OBJECTS["shm"].exists(), reason="this kernel has no System V objects")
def test_a_kernel_object_that_is_left_is_noticed():
    libc = ctypes.CDLL(None)
    before = traces()
    left = libc.shmget(0, 4096, 0o1600)

    after = traces()
    libc.shmctl(left, 0, None)

    assert before != after
    assert traces() == before


def test_every_family_is_read_and_nothing_beside_it():
    assert {path.name for path in FOLDER.iterdir() if path.name[0] != "."} == {f"{family}.md" for family in FAMILIES}
    assert {attack.family for attack in ATTACKS} == set(FAMILIES)
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 500
