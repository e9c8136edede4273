"""What the unit on the engine room says was measured is measured again here, with the solutions of its boxes."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from app.content.blocks import CodeBox, Visual
from app.grading.reading.walk import trace_program
from tests.courses import LESSONS, course_in

ROUNDS = (1, 2, 3, 5, 8, 12, 16, 20)


def page(name: str) -> str:
    return next(Path(LESSONS).glob(f"*/*{name}.md")).read_text()


def written(lesson: str, *boxes: str) -> Callable[..., Any]:
    """What the solution of the last of *boxes* defines, run below those before it."""
    exercises = next(one for one in course_in(LESSONS).lessons if one.slug == lesson).exercises
    found = {one.name: one for one in exercises}
    scope: dict[str, Any] = {"torch": torch, "F": F}
    for name in boxes:
        box = found[name]
        assert isinstance(box, CodeBox)
        exec(box.solution.source, scope)
    return scope[boxes[-1].replace("-", "_")]


def row(name: str, label: str, picture: str = "") -> list[float]:
    """The numbers of the line *label*, in the first picture, or in *picture*."""
    found = re.search(rf'"{label}": \[(.*?)\]', page(name).partition(picture)[2] if picture else page(name))
    assert found
    return [float(number) for number in found[1].split(",")]


def test_checkpoints_keep_as_many_tables_as_the_slider_shows() -> None:
    lesson = next(one for one in course_in(LESSONS).lessons if one.slug == "keep-or-compute-again")
    slider = next(visual for visual in lesson.all_of(Visual) if visual.name == "how-far-apart")
    forward, places = lesson.forward(slider.forward or ""), slider.given["over"]
    assert isinstance(places, list)
    shown = [trace_program(forward, {"every": every}).values[forward.output].item() for every in places]
    run = written("keep-or-compute-again", "checkpointed")
    weights = [torch.eye(2)] * 36

    assert [run(torch.ones(1, 2), weights, torch.ones(1, 2), every)[1] for every in places] == shown


def test_the_saw_keeps_at_most_what_the_checkpoints_do() -> None:
    assert max(row("keep-or-compute-again", "every 6th")) == 12
    assert max(row("keep-or-compute-again", "keep all")) == 36


def test_checkpoints_change_no_digit_of_a_training() -> None:
    fit = written("keep-or-compute-again", "checkpointed", "deep-fit")
    runs = [fit(every, 20) for every in (1, 4, 16)]

    assert len({loss for loss, _ in runs}) == 1
    assert [most for _, most in runs] == [17, 8, 17]


def test_the_function_of_pytorch_passes_its_own_gradcheck() -> None:
    exercises = next(one for one in course_in(LESSONS).lessons if one.slug == "keep-or-compute-again").exercises
    box = next(one for one in exercises if one.name == "rms-function")
    assert isinstance(box, CodeBox)
    scope: dict[str, Any] = {"torch": torch}
    exec(box.solution.source, scope)
    x, w = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 3, 4), (4,)))

    assert torch.autograd.gradcheck(scope["RmsNorm"].apply, (x, w, 1e-5))


def test_numbers_of_sixteen_bits_are_as_the_lesson_says() -> None:
    assert torch.tensor([1e-8, 65504.0]).half().tolist() == [0.0, 65504.0]
    assert torch.tensor(1024e-8).half().item() == pytest.approx(1.025e-5, abs=1e-8)
    assert torch.tensor([1.003, 1.0078]).bfloat16().tolist() == [1.0, 1.0078125]
    assert torch.tensor(1e-8).bfloat16().item() == pytest.approx(1e-8, rel=0.01)


def test_a_step_of_a_ten_thousandth_is_rounded_away_in_sixteen_bits() -> None:
    weights = 1 + torch.arange(1000) / 1000

    for kind in (torch.float16, torch.bfloat16):
        rounded = weights.to(kind)
        assert torch.equal((rounded.float() * (1 - 1e-4)).to(kind), rounded)


@pytest.mark.parametrize("ball", ["descent", "momentum", "Adam"])
def test_the_three_balls_roll_as_the_picture_shows(ball: str) -> None:
    momentum, adam = written("the-step", "momentum"), written("the-step", "adam")
    steep = torch.tensor([100.0, 1.0]).double()
    place, mean, square = torch.ones(2).double(), torch.zeros(2).double(), torch.zeros(2).double()
    losses = []
    for step in range(1, 201):
        gradient = steep * place
        if ball == "descent":
            place = place - 0.018 * gradient
        elif ball == "momentum":
            place, mean = momentum(place, gradient, mean, 0.01, 0.9)
        else:
            place, mean, square = adam(place, gradient, mean, square, step, 0.1)
        losses.append(float((steep * place**2).sum() / 2))
    shown = [losses[step - 1] for step in (1, 5, 10, 20, 30, 50, 70, 100, 150, 200)]

    assert row("the-step", ball) == pytest.approx(shown, rel=0.06)


def test_adam_forgives_a_mean_for_a_sum_and_descent_does_not() -> None:
    race = written("the-step", "adam", "race")

    assert [round(race(20, False, slip), 4) for slip in (False, True)] == [0.3638, 0.3538]
    assert [round(race(20, True, slip), 6) for slip in (False, True)] == [0.275397, 0.275397]
    for curve, way in {"descent": (False, False), "with the slip": (False, True)}.items():
        assert row("the-step", curve, "with-and-without") == [round(race(rounds, *way), 4) for rounds in ROUNDS]
    for curve, slip in {"Adam": False, "Adam with the slip": True}.items():
        assert row("the-step", curve, "with-and-without") == [round(race(rounds, True, slip), 4) for rounds in ROUNDS]


def test_newton_is_there_in_six_steps_and_descent_in_81() -> None:
    x = torch.linspace(-2, 2, 41).double()
    y = torch.where(x + torch.sin(9 * x) > 0, 1.0, -1.0).double()

    def slope(w: torch.Tensor) -> float:
        return float((torch.sigmoid(-y * x * w) * -y * x).mean() + 0.1 * w)

    newton = written("forward-backward-and-both", "newton")
    start = torch.tensor(0.0).double()
    told = re.findall(r"^\| \d \| (−?[\d.]+)", page("forward-backward-and-both"), re.MULTILINE)
    before = [float(number.replace("−", "-")) for number in told]
    assert before == pytest.approx([slope(newton(x, y, start, steps)) for steps in range(6)], rel=0.02, abs=1e-15)

    w, steps = start, 0
    while abs(slope(w)) >= 1e-12:
        w, steps = w - slope(w), steps + 1

    assert steps == 81
    assert abs(slope(newton(x, y, start, 6))) < 1e-12
