"""The attacks under `attacks/`: one small program each, headed by what it tries and how it may end.

`# outcome:` lists the allowed endings (`error` is a run whose program raised, `done` one that ended in peace). An
attack that succeeds would set `won`, so no run may send a tensor of that name. `# gate: passes` marks what the gate
lets through, `# machine:` what is for one kind of processor.
"""

import platform
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.wire import Job, Reply

FOLDER = Path(__file__).parent / "attacks"
SPIN_SECONDS = 0.3
OTHER_SECONDS = 5.0


@dataclass(frozen=True)
class Attack:
    name: str
    outcomes: frozenset[str]
    passes_gate: bool
    source: str

    def job(self) -> Job:
        header = {"source": self.source, "names": ["won", "y"]}
        seconds = SPIN_SECONDS if "timeout" in self.outcomes else OTHER_SECONDS
        return Job(driver="probe", header=header, seconds=seconds, output_bytes=2**20)


def ending(reply: Reply) -> str:
    return "error" if reply.ending == "done" and "error" in reply.texts else reply.ending


def read(path: Path) -> tuple[Attack, str]:
    """An attack and the machine that it is for, or ""."""
    source = path.read_text(encoding="utf-8")
    heads = dict(line[2:].split(": ", 1) for line in source.split("\n\n")[0].splitlines()[1:])
    attack = Attack(
        name=f"{path.parent.name}/{path.stem}",
        outcomes=frozenset(heads["outcome"].split("|")),
        passes_gate=heads.get("gate") == "passes",
        source=source,
    )
    return attack, heads.get("machine", "")


def attacks() -> list[Attack]:
    found = [read(path) for path in sorted(FOLDER.glob("*/*.py"))]
    return [attack for attack, machine in found if machine in {"", platform.machine()}]
