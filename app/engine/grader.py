"""Interface of grading for the web, whatever carries the requests: a child process, a broker, or a fake in tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.content.blocks import Forward
from app.engine.task import AnyTask
from app.engine.training_chunk import ChunkResult, TrainingChunk
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.line_shapes import InlayShapes
from app.grading.judge.origins import Origin
from app.grading.judge.run_reports import ShownValue
from app.grading.judge.verdict import Verdict

BREACHED = (
    "The sandbox let a test attack through ({attacks}). No code is run until the operator has looked at it with "
    "backhand doctor and started the server anew."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A run without a verdict: shapes, values and what was printed.

    Args:
        wall_ms, jail_ms: How long the grader took, and how much of that its jail did.
        told: What stands behind the lines while they are typed, for those who have no script.
        origins: Which entries the entries of the asked gradients came from.
    """

    outcome: Outcome
    shown: tuple[ShownValue, ...] = ()
    printed: str = ""
    line: int | None = None
    message: str = ""
    wall_ms: float = 0.0
    jail_ms: float = 0.0
    told: InlayShapes = field(default_factory=InlayShapes)
    origins: tuple[Origin, ...] = ()


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
class CanaryReport:
    """One flight of the canary attacks: when it ended (Unix seconds), and the attacks that *succeeded*."""

    at: float
    succeeded: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """Reason why no code is run after it; empty if every attack was stopped."""
        return BREACHED.format(attacks=", ".join(self.succeeded)) if self.succeeded else ""


State = Literal["ready", "warming", "refused", "away", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Readiness of the graders to check code now.

    Args:
        state: `warming` while zygotes start, `refused` where a load-bearing protection is missing, `away` where graders
            on other machines cannot be reached. Only while it is warming is waiting of use.
        reason: For people; empty when ready.
        layers: Protection name to `on`, or the reason it is off.
        look: The last flight of canary attacks, or the one that found a hole; None where none has flown.
    """

    state: State
    reason: str = ""
    layers: tuple[tuple[str, str], ...] = ()
    look: CanaryReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLoad:
    """Load of the *slots* of one role behind a broker, over all servers.

    Args:
        pending, in_hand: Questions that lie in the queue, and that a grader has.
        waiting: Slots that wait for a question.
        redelivered: Questions in hand that another grader had before.
        refused: Questions of this server that a full queue turned away since the start.
    """

    role: str
    slots: int
    pending: int
    in_hand: int
    waiting: int
    redelivered: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of the graders: how many are *up*, how many of them *idle*, and the requests *waiting* for one.

    *replaced* counts those that died since the start.
    """

    up: int = 0
    idle: int = 0
    waiting: int = 0
    replaced: int = 0
    roles: tuple[RoleLoad, ...] = ()


class ProvingGrader(Protocol):
    """The questions that proofs ask. Every method answers; none raises for anything a submission does."""

    async def check(self, task: AnyTask, code: str) -> Verdict: ...

    async def facts(self, forward: Forward) -> Facts: ...

    async def train(self, stretch: TrainingChunk) -> ChunkResult: ...


class Grader(ProvingGrader, Protocol):
    """Checks submissions.

    A question whose caller is cancelled is dropped while it waits, and stopped when it is being answered.
    """

    @property
    def readiness(self) -> Readiness: ...

    @property
    def load(self) -> Load: ...

    async def run(self, task: AnyTask, code: str) -> RunResult: ...

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge: ...

    async def line_shapes(self, task: AnyTask, code: str) -> InlayShapes:
        """The shapes that the lines of *code* give, read and not run; nothing where no grader is free to read."""
        ...

    async def export_problems(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Reasons why each of *texts* cannot be part of a Python file; empty if it can."""
        ...
