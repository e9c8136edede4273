"""2,000 steps with a learner's gradients in the jail against the same loop in a plain torch process.

Both are taken in turn in one run, so that a noisy machine troubles them alike. The plain process is asked twice: as it
comes, and with one thread as in the jail. Its time is that of the loop alone: neither the import of torch nor the data.
The time in the jail is the whole of it: every fork, every copy of the state and of the data, and the gate.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.content.blocks import Train
from app.content.course import load_course
from app.content.uses import boxes_of
from app.engine.names import load_examples
from app.engine.setup import Setup, setup_of
from app.engine.stretch import Stretch, array_of
from app.engine.trainer import Trainer
from app.sandbox.runner import Jail
from app.settings import ROOT

ROUNDS = 5

PLAIN = """
import sys, time
import numpy as np
import torch
import torch.nn.functional as F

if len(sys.argv) > 2:
    torch.set_num_threads(int(sys.argv[2]))
loaded = np.load(sys.argv[1])
X, Y = torch.from_numpy(loaded["X"]).long(), torch.from_numpy(loaded["Y"]).long()
generator = torch.Generator().manual_seed({seed})
{dims}
parameters = []
{parameters}
losses = []
began = time.perf_counter()
with torch.no_grad():
    for step in range({steps}):
        rows = torch.randint(0, len(Y), (n,), generator=generator)
        {context}, {target} = X[rows], Y[rows]
{forward}
{backward}
        rate = {early} if step < {steps} / 2 else {late}
        for parameter, gradient in zip(parameters, ({gradients},)):
            parameter += -rate * gradient
        losses.append(loss.item())
print(time.perf_counter() - began, losses[-1])
"""


def main() -> None:
    """Print the medians and the ratio."""
    course = load_course(ROOT / "lessons")
    lesson, train = next(
        (lesson, one) for lesson in course.lessons for one in lesson.exercises if isinstance(one, Train)
    )
    found, forward, preset = boxes_of(course.lessons, lesson, train), lesson.forward(train.forward), train.presets[0]
    assert found is not None
    assert forward is not None
    setup, code = setup_of(train, forward, preset), "\n".join(box.solution.source for box in found[1])
    examples = load_examples(None, setup.width)["train"]
    jail = Jail()
    assert jail.is_warm(60), jail.refusal
    trainer = Trainer(jail, None)
    jailed, plain, single = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "names.npz", Path(folder) / "plain.py"
        np.savez(data, X=examples.contexts, Y=examples.targets)
        script.write_text(_plain(setup, preset.steps, code))
        _in_the_jail(trainer, setup, 20, code)
        for _ in range(ROUNDS):
            seconds, last = _in_the_jail(trainer, setup, preset.steps, code)
            jailed.append(seconds)
            for kept, threads in ((plain, ()), (single, ("1",))):
                seconds, other = _in_a_plain_process(script, data, *threads)
                kept.append(seconds)
                assert abs(last - other) < 1e-4, (last, other)
    jail.close()
    inside = statistics.median(jailed)
    print(f"{preset.steps:,} steps, {setup.numbers:,} parameters, medians of {ROUNDS} rounds")
    print(f"  in the jail, own gradients: {inside:.2f} s ({preset.steps / inside:,.0f} steps/s)")
    for what, kept in (("as it comes", plain), ("one thread", single)):
        median = statistics.median(kept)
        ratios = sorted(one / other for one, other in zip(jailed, kept, strict=True))
        print(f"  plain torch process, {what}: {median:.2f} s; ratio {inside / median:.2f}"
              f" (by round {ratios[0]:.2f} to {ratios[-1]:.2f})")  # fmt: skip


def _in_the_jail(trainer: Trainer, setup: Setup, steps: int, code: str) -> tuple[float, float]:
    """Wall time of *steps* steps, start included, and the last loss."""
    began = time.perf_counter()
    state = dict(trainer.run(Stretch(setup=setup, part="start")).state)
    question = Stretch(setup=setup, part="steps", code=code, stop=steps, half=steps // 2)
    step, losses = 0, np.empty(0)
    while step < steps:
        answer = trainer.run(replace(question, state=state, first=step))
        assert answer.outcome == "graded", answer.message
        state = dict(answer.state)
        losses = array_of(state.pop("losses"))
        step += len(losses)
    return time.perf_counter() - began, float(losses[-1])


def _in_a_plain_process(script: Path, data: Path, *threads: str) -> tuple[float, float]:
    command = [sys.executable, str(script), str(data), *threads]
    seconds, last = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(last)


def _plain(setup: Setup, steps: int, code: str) -> str:
    """The loop as somebody would write it in a notebook."""
    drawn = [
        f"{one.name} = torch.randn({one.shape}, generator=generator) * {one.scale!r} + {one.shift!r}\n"
        f"parameters.append({one.name})"
        for one in setup.parameters
    ]
    return PLAIN.format(
        seed=setup.seed,
        dims="\n".join(f"{name} = {size}" for name, size in setup.dims.items()),
        parameters="\n".join(drawn),
        steps=steps,
        context=setup.context,
        target=setup.target,
        forward=_indented(setup.forward.source),
        backward=_indented(code),
        gradients=", ".join(f"d{one.name}" for one in setup.parameters),
        early=setup.rates[0],
        late=setup.rates[1],
    )


def _indented(source: str) -> str:
    return "\n".join(f"        {line}" for line in source.splitlines())


if __name__ == "__main__":
    main()
