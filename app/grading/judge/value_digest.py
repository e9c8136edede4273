"""Digest of a wrong gradient's numbers: one for all texts that come to the same, however they are written."""

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from app.grading.judge.compare import Array
from app.grading.operations.numerics import magnitude

DIGITS = 1e7
"""Numbers that differ by less than one part in so many, of the largest, are one; two ways to write a line by 1e-14."""


def value_digest(got: Mapping[str, Array]) -> bytes:
    """Digest of the tensor *got*, by set of data: of its shape, its largest number and the others beside that one."""
    digest = sha256()
    for run in sorted(got):
        numbers = np.asarray(got[run], dtype=np.float64)
        finite = np.isfinite(numbers)
        largest = magnitude(numbers[finite])
        steps = np.zeros(numbers.shape, dtype=np.int64)
        steps[finite] = np.round(numbers[finite] / (largest or 1.0) * DIGITS)
        digest.update(f"{run} {numbers.shape} {largest:.6e} {numbers[~finite].tolist()}".encode())
        digest.update(steps.tobytes())
    return digest.digest()
