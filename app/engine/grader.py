"""What the web asks of grading, whatever carries the question: a child process, a broker, or a fake in tests."""

from dataclasses import dataclass
from typing import Literal, Protocol

from app.content.blocks import Forward
from app.engine.stretch import Stretch, Stretched
from app.engine.task import AnyTask
from app.grading.facts import Facts
from app.grading.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One name of a run without a verdict: *text* is the tensor as torch prints it, cut to a bound."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run without a verdict: shapes, values and what was printed."""

    outcome: Outcome
    shown: tuple[Shown, ...] = ()
    printed: str = ""
    line: int | None = None
    message: str = ""
    wall_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Nudge:
    """A finite difference at one entry of a tensor, with the learner's own number.

    Args:
        outcome: `graded` where L was measured; everything else is explained by *message*.
        name, entry: The gradient that the quotient approximates, such as `dW`, and the index.
        loss: What L is, such as `(dY * Y).sum()`, or the output itself where that is a scalar.
        above, below: L with the entry moved by plus and minus *step*.
        own: The learner's number; None where *message* says why there is none.
        message: How the two numbers compare, in words.
        note: What the quotient does not show of itself, such as a kink.
    """

    outcome: Outcome
    name: str = ""
    entry: tuple[int, ...] = ()
    loss: str = ""
    step: float = 0.0
    above: float = 0.0
    below: float = 0.0
    quotient: float = 0.0
    own: float | None = None
    message: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether code can be checked now.

    Args:
        state: `warming` while zygotes start, `refused` where a load-bearing protection is missing.
        reason: For people; empty when ready.
        layers: Protection name to `on`, or the reason it is off.
    """

    state: Literal["ready", "warming", "refused", "stopped"]
    reason: str = ""
    layers: tuple[tuple[str, str], ...] = ()


class Grader(Protocol):
    """Checks submissions. Every method answers; none raises for anything a submission does."""

    @property
    def readiness(self) -> Readiness: ...

    async def check(self, task: AnyTask, code: str) -> Verdict: ...

    async def run(self, task: AnyTask, code: str) -> Run: ...

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge: ...

    async def facts(self, forward: Forward) -> Facts: ...

    async def train(self, stretch: Stretch) -> Stretched: ...
