"""What may cross the sandbox wall: a Job in, a Reply out, tensors as raw bytes.

Never pickle: unpickling what untrusted code wrote would run it on our side of the wall.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ending = Literal["done", "timeout", "memory", "denied", "crashed", "fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run in the jail.

    Args:
        driver: Which trusted program of the zygote runs it: `tape` or `attempt`.
        header: What the driver is told, as JSON values.
        arrays: Tensors by key.
        seconds: Wall-clock limit.
        output_bytes: Cap on everything the child may send back.
    """

    driver: str
    header: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    seconds: float = 2.0
    output_bytes: int = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back. *arrays* and *texts* are whatever arrived whole before the end; never trusted beyond being bytes."""

    ending: Ending
    arrays: Mapping[str, Array] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    wall_ms: float = 0.0
    detail: str = ""
