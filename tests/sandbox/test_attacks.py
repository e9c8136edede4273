"""Every attack of the catalogue ends as its file says and gains nothing, gate or no gate; an honest run then passes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from catalogue import attacks, ending

from app.sandbox.gate import refusal
from app.sandbox.wire import Job

ATTACKS = attacks()
X = np.arange(16.0).reshape(4, 4) / 16
HONEST = Job(driver="probe", header={"source": "y = torch.tanh(x @ x)", "names": ["y"]}, arrays={"x": X})
PLACES = ["/tmp", "/dev/shm", "/", str(Path.cwd()), str(Path.home())]
KERNEL_OBJECTS = [Path("/proc/sysvipc") / kind for kind in ("shm", "sem", "msg")]


def children(pid: int) -> int:
    return len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def traces() -> tuple[object, ...]:
    """What a run could leave behind on the machine."""
    files = [sorted(path.name for path in Path(place).glob("*backhand-attack*")) for place in PLACES]
    objects = [path.read_text() for path in KERNEL_OBJECTS if path.exists()]
    return files, objects


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gains_nothing_and_the_next_run_is_honest(attack, any_jail):
    before = traces()
    job = attack.job()

    reply = any_jail.run(replace(job, arrays={"x": X}))

    assert ending(reply) in attack.outcomes, (reply.detail, dict(reply.texts))
    assert "won" not in reply.arrays

    honest = any_jail.run(HONEST)

    assert honest.ending == "done", honest.detail
    assert np.allclose(honest.arrays["y"], np.tanh(X @ X))
    assert children(any_jail.zygote_pid) <= 1
    assert traces() == before


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_gate_knows_what_it_lets_through(attack):
    assert (refusal(attack.source) is None) == attack.passes_gate


def test_every_group_of_attacks_is_there():
    groups = {attack.name.partition("/")[0] for attack in ATTACKS}

    assert groups == {"python", "torch", "resources", "isolation", "forging", "peeking", "persistence"}
    assert len(ATTACKS) >= 450
