"""One stretch of a training run, as a question that crosses to a grader and the answer that comes back.

A stretch is one bounded run in the jail. Everything that the next one needs comes back as numbers and is sent again, so
a grader keeps nothing of a training run, and any grader can compute any chunk.
"""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.engine.run_setup import Setup
from app.grading.forward.facts import Outcome

Array = NDArray[Any]
Part = Literal["start", "steps", "gradients", "calibrate", "evaluate", "sample"]

LONGEST_SECONDS = 5.0
DTYPES = ("float32", "float64", "int64", "uint8")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedTensor:
    """A tensor on its way: its raw little-endian bytes in base64."""

    dtype: str
    shape: tuple[int, ...]
    base64: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingChunk:
    """Request for a chunk of training.

    Args:
        code: The learner's code; None lets torch differentiate.
        state: By key: parameters `p/W1`, the generator `g`, held tensors `h/bnmeani`.
        split: The part of the data that rows are taken from.
        first, stop: Steps, or rows of the split, from *first* to before *stop*.
        half: The step at which the learning rate falls.
        count: How many names to sample.
    """

    setup: Setup
    part: Part
    code: str | None = None
    forbid: tuple[str, ...] = ()
    state: Mapping[str, EncodedTensor] = field(default_factory=dict)
    split: str = "train"
    first: int = 0
    stop: int = 0
    half: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """Result of a chunk. *line* is the learner's own; *message* is empty if everything went well."""

    outcome: Outcome
    state: Mapping[str, EncodedTensor] = field(default_factory=dict)
    line: int | None = None
    message: str = ""
    wall_ms: float = 0.0


def numbers_of(array: Array) -> EncodedTensor:
    raw = np.ascontiguousarray(array).tobytes()
    return EncodedTensor(dtype=array.dtype.name, shape=array.shape, base64=base64.b64encode(raw).decode("ascii"))


def array_of(numbers: EncodedTensor) -> Array:
    """The array that `numbers_of` was given.

    Raises:
        ValueError: The bytes do not fit the shape, or the dtype is none that crosses.
    """
    raw = base64.b64decode(numbers.base64, validate=True)
    if numbers.dtype not in DTYPES or len(raw) != math.prod(numbers.shape) * np.dtype(numbers.dtype).itemsize:
        raise ValueError(f"not the numbers of a {numbers.dtype} of shape {numbers.shape}")
    return np.frombuffer(raw, np.dtype(numbers.dtype)).reshape(numbers.shape)
