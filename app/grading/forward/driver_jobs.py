"""Jobs of the drivers in the jail and the keys of their results: the names that both ends of the wall share.

A header is JSON. The engine writes it and a driver reads it, each under the names that stand here.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from typing import Any, NamedTuple, NotRequired, Protocol, TypedDict


class DriverOutput(Protocol):
    """Output of a driver for its results; given by the sandbox."""

    def tensor(self, key: str, value: object) -> None: ...

    def text(self, key: str, value: str) -> None: ...

    def capture(self) -> AbstractContextManager[StringIO]: ...


HEAD = 6
"""Rows and columns of a tensor that a run without a verdict shows as numbers."""


class ForwardLineSpec(TypedDict):
    """One forward statement; a tape also asks for what it reads."""

    source: str
    outputs: Sequence[str]
    inputs: NotRequired[Sequence[str]]


class TapeRun(TypedDict):
    """One run of a forward program on one set of data.

    Args:
        inputs: By name, the key of its array; so are *forced* and *others*.
        forced: The upstreams in force.
        whole: Whether torch's own gradients are wanted, of the program as one.
        want: The tensors whose gradients are sent back.
        detail: The tensor of which everything is sent back.
        others: Upstreams under which shares of it are sent as well.
        blockable: Tensors that are held constant one by one.
        tried: Whether the data are on trial, so that gradients that are not finite are only reported.
    """

    id: str
    dtype: str
    dims: Mapping[str, int]
    inputs: Mapping[str, str]
    forced: NotRequired[Mapping[str, str]]
    whole: NotRequired[bool]
    want: NotRequired[Sequence[str]]
    detail: NotRequired[str | None]
    others: NotRequired[Mapping[str, str]]
    blockable: NotRequired[Sequence[str]]
    tried: NotRequired[bool]


ROUTER, MASK = "router", "mask"


class Asked(NamedTuple):
    """One predicate as it was met in a run: how many entries lie *below*, at (*equal*), and *above* its threshold.

    Of a mask, *below* counts what is false and *above* what is true. Of a router such as `argmax`, *above* counts the
    choices that fell on the last place.
    """

    statement: int
    kind: str
    below: int
    equal: int
    above: int

    @property
    def entries(self) -> int:
        return self.below + self.equal + self.above


class TapeHeader(TypedDict):
    """A forward program, and its runs; *mode* is `forward` or `backward`."""

    mode: str
    statements: Sequence[ForwardLineSpec]
    outputs: Sequence[str]
    runs: Sequence[TapeRun]


class StatementSpec(TypedDict):
    """Names that one statement of a submission reads and writes; a *blank* one is not run."""

    reads: list[str]
    writes: list[str]
    blank: bool


class AttemptRun(TypedDict):
    """One run of a submission on one set of data.

    Args:
        dims: Sizes and numbers by name.
        scope: By name, the key of the tensor that stands there; so is *forced*.
        isolated: Whether each gradient is replaced by its forced one when it is finished.
    """

    id: str
    dtype: str
    visible: bool
    dims: Mapping[str, float]
    scope: Mapping[str, str]
    isolated: bool
    forced: Mapping[str, str]


class AttemptHeader(TypedDict):
    """A submission.

    Args:
        last: By name, the statement that writes it last.
        required: Names whose tensors are sent back.
        shown: Names whose values are shown.
        echoes: Whether the values of statements that are expressions are shown, too.
    """

    source: str
    lines: Sequence[StatementSpec]
    last: Mapping[str, int]
    required: Sequence[str]
    shown: Sequence[str]
    echoes: bool
    runs: Sequence[AttemptRun]


class CheckHeader(TypedDict):
    """A learner's check; *cases* are code that writes the *arguments*."""

    source: str
    function: str
    arguments: Sequence[str]
    cases: Mapping[str, str]
    shown: Sequence[str]


class FunctionHeader(TypedDict):
    """A function or class, and cases for it.

    Args:
        cases: By key, code that writes the arguments, or `result`.
        judged: By key, what another run answered; `expect` of the case says whether it will do.
        shown: Names of the text whose values are to be shown.
    """

    source: str
    function: str
    arguments: Sequence[str]
    cases: Mapping[str, str]
    judged: Mapping[str, Any]
    shown: Sequence[str]


class NudgeHeader(TypedDict):
    """A forward program, of which the *entry* of one *tensor* is moved by each of *steps*."""

    statements: Sequence[ForwardLineSpec]
    inputs: Sequence[str]
    dims: Mapping[str, int]
    outputs: Sequence[str]
    tensor: str
    entry: Sequence[int]
    steps: Sequence[float]


class ParameterSpec(TypedDict):
    """A tensor that learns; drawn from a normal distribution, scaled and shifted."""

    name: str
    shape: Sequence[int]
    scale: float
    shift: float


class TrainHeader(TypedDict):
    """A part of a training run.

    Args:
        dims: Sizes by name; *batch* names the one that is the number of examples in a step.
        context: The input that holds the symbols before, and *target* the one for the symbol that follows.
        mean: The statistics that a calibration measures, with *variance*; None where the program has none.
        rates: Learning rates before and from the step *half* on.
        code: The learner's; None trains with torch's gradients.
        seen: How many rows were measured before.
        count: How many names are to be invented.
    """

    dtype: str
    statements: Sequence[ForwardLineSpec]
    output: str
    dims: Mapping[str, int]
    parameters: Sequence[ParameterSpec]
    context: str
    target: str
    batch: str
    width: int
    logits: str
    mean: str | None
    variance: str | None
    rates: Sequence[float]
    part: str
    code: str | None
    seconds: float
    first: int
    stop: int
    half: int
    seen: int
    count: int
    seed: int
