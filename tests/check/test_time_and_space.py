"""What the unit on time and space says was measured is measured again here."""

import re
from pathlib import Path

import pytest
import torch

from tests.courses import LESSONS

STEPS = (1, 5, 10, 15, 20, 25, 30, 35, 40)


def page(name: str) -> str:
    return next(Path(LESSONS).glob(f"*/*{name}.md")).read_text()


def arrives(gain: float) -> list[float]:
    """What is left of a gradient after each of `STEPS` steps back through 64 tanh units, as a part of what came in."""
    torch.manual_seed(0)
    units = 64
    inward = torch.randn(units, units).double() / units**0.5
    onward = torch.randn(units, units).double() * gain / units**0.5
    state, slopes = torch.zeros(units, units).double(), []
    for _ in range(max(STEPS)):
        state = torch.tanh(torch.randn(units, units).double() @ inward + state @ onward)
        slopes.append(1 - state**2)
    upstream = torch.randn(units, units).double()
    size, left = upstream.norm(), []
    for slope in reversed(slopes):
        upstream = (upstream * slope) @ onward.T
        left.append(float(upstream.norm() / size))
    return [left[step - 1] for step in STEPS]


@pytest.mark.parametrize("gain", [0.7, 1, 1.5, 2])
def test_what_arrives_after_many_steps_is_what_was_measured(gain: float) -> None:
    row = re.search(rf'"gain {gain}": \[(.*?)\]', page("one-weight-many-steps"))
    assert row

    assert [float(number) for number in row[1].split(",")] == pytest.approx(arrives(gain), rel=0.06)
