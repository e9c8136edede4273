"""What the unit on time and space says was measured is measured again here."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from app.content.blocks import CodeBox
from tests.courses import LESSONS, course_in

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


@pytest.mark.parametrize("bias", [0, 1, 2, 5])
def test_along_the_cells_a_gradient_is_left_as_the_picture_shows(bias: int) -> None:
    row = re.search(rf'"bias {bias}": \[(.*?)\]', page("a-cell-that-keeps"))
    assert row

    gate = 1 / (1 + math.exp(-bias))
    shown = [gate**step for step in (1, 2, 5, 10, 20, 50, 100)]
    assert [float(number) for number in row[1].split(",")] == pytest.approx(shown, rel=0.06)


@pytest.mark.parametrize(
    ("steps", "rounds", "rate", "ends"), [(10, 40, 1, (0.016, 0.692)), (25, 150, 0.3, (0.008, 0.693))]
)
def test_one_number_decides_whether_the_first_symbol_is_remembered(
    steps: int, rounds: int, rate: float, ends: tuple[float, float]
) -> None:
    lesson = next(one for one in course_in(LESSONS).lessons if one.slug == "a-cell-that-keeps")
    box = next(one for one in lesson.exercises if one.name == "remember")
    assert isinstance(box, CodeBox)
    scope: dict[str, Any] = {"torch": torch, "F": F}
    exec(re.sub(r" - (d\w+)(?=[,\n])", rf" - {rate} * \1", box.solution.source), scope)

    assert [scope["remember"](steps, rounds, bias) for bias in (5.0, 0.0)] == pytest.approx(ends, abs=0.001)
