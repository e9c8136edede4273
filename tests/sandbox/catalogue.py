"""The attacks under `attacks/`, one file for each family: a title that says what is tried, how it may end, a program.

`outcome:` lists the allowed endings (`error` is a run whose program raised, `done` one that ended in peace). An attack
that succeeds would set `won`, so no run may send a tensor of that name. `gate: passes` marks what the gate lets
through, `machine:` what is for one kind of processor.
"""

import math
import platform
import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.wire import Job, Reply

FOLDER = Path(__file__).parent / "attacks"
FAMILIES = ("python", "torch", "resources", "isolation", "forging", "peeking", "persistence")
CASE = re.compile(
    r"^## (?P<title>[^\n]+)\n\n(?P<facts>[^\n]+)\n\n```python\n(?P<source>.*?\n)```$", re.MULTILINE | re.DOTALL
)
ENDLESS_CPU_SECONDS = 0.1
IMPORTED = re.compile(r"^\s*(?:import|from) (.+)", re.MULTILINE)


@dataclass(frozen=True)
class Attack:
    """*machine* is the one processor that it is for, or ""."""

    family: str
    title: str
    outcomes: frozenset[str]
    passes_gate: bool
    machine: str
    source: str

    @property
    def name(self) -> str:
        return f"{self.family}: {self.title}"

    @property
    def shape(self) -> Hashable:
        """What makes two attacks look alike from outside: where they begin, what they reach for, how they may end."""
        return self.family, self.outcomes, self.passes_gate, frozenset(IMPORTED.findall(self.source))

    @property
    def is_endless(self) -> bool:
        return "timeout" in self.outcomes

    def job(self, seconds: float) -> Job:
        """One that may go on for ever gets a little processor time, which it has on a busy machine too."""
        header = {"source": self.source, "names": ["won", "y"]}
        cpu_seconds = ENDLESS_CPU_SECONDS if self.is_endless else math.inf
        return Job(driver="probe", header=header, seconds=seconds, cpu_seconds=cpu_seconds, output_bytes=2**20)


def ending(reply: Reply) -> str:
    return "error" if reply.ending == "done" and "error" in reply.texts else reply.ending


def read(family: str) -> list[Attack]:
    text = (FOLDER / f"{family}.md").read_text(encoding="utf-8")
    cases = list(CASE.finditer(text))
    assert len(cases) == text.count("\n## "), f"a case of {family}.md has no outcome or no fence"
    return [_attack(family, case) for case in cases]


def _attack(family: str, case: re.Match[str]) -> Attack:
    facts = dict(fact.split(": ") for fact in case["facts"].split(", "))
    return Attack(
        family=family,
        title=case["title"],
        outcomes=frozenset(facts.pop("outcome").split("|")),
        passes_gate=facts.pop("gate", "") == "passes",
        machine=facts.pop("machine", ""),
        source=case["source"],
    )


def attacks() -> list[Attack]:
    found = [attack for family in FAMILIES for attack in read(family)]
    return [attack for attack in found if attack.machine in {"", platform.machine()}]


def one_of_each_shape(found: list[Attack]) -> list[Attack]:
    return list({attack.shape: attack for attack in reversed(found)}.values())[::-1]
