"""2,000 steps with a learner's gradients in the jail against the same loop in a plain torch process.

Both are taken in turn in one run, so that a noisy machine troubles them alike, and what counts is the median of the
ratios of the rounds, of wall time and of processor time. The plain process has one thread, as the jail; with a thread
for every core, as it comes, it is slower at these sizes, and no match. Its time is that of the loop alone: neither the
import of torch nor the data. The time in the jail is the whole of it: every fork, every copy of the state and of the
data, the gate, and the grader's own work.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.content.blocks import Train
from app.content.program.training_sources import boxes_of
from app.course.course import load_course
from app.engine.run_setup import Setup, setup_of
from app.engine.train.corpus_file import load_examples
from app.engine.train.trainer import Trainer
from app.engine.training_chunk import TrainingChunk, array_of
from app.installation import ROOT
from app.sandbox.runner import Jail

ROUNDS = 9
MOST = 1.5

PLAIN = """
import sys, time
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
loaded = np.load(sys.argv[1])
X, Y = torch.from_numpy(loaded["X"]).long(), torch.from_numpy(loaded["Y"]).long()
generator = torch.Generator().manual_seed({seed})
{dims}
parameters = []
{parameters}
losses = []
began, worked = time.perf_counter(), time.process_time()
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
print(time.perf_counter() - began, time.process_time() - worked, losses[-1])
"""


@dataclass(frozen=True)
class Took:
    """Seconds on the wall, seconds of a processor, and the last loss as a proof that the same was computed."""

    wall: float
    cpu: float
    last: float


def main() -> None:
    """Print the medians and the ratios."""
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
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "names.npz", Path(folder) / "plain.py"
        np.savez(data, X=examples.contexts, Y=examples.targets)
        script.write_text(_plain(setup, preset.steps, code))
        _in_the_jail(jail, trainer, setup, 20, code)
        for _ in range(ROUNDS):
            jailed = _in_the_jail(jail, trainer, setup, preset.steps, code)
            plain = _in_a_plain_process(script, data)
            assert abs(jailed.last - plain.last) < 1e-4, (jailed, plain)
            rounds.append((jailed, plain))
    jail.close()
    print(f"{preset.steps:,} steps, {setup.numbers:,} parameters, medians of {ROUNDS} rounds taken in turn")
    for index, what in enumerate(("in the jail, own gradients", "plain torch process")):
        wall, cpu = (statistics.median(getattr(one[index], kind) for one in rounds) for kind in ("wall", "cpu"))
        print(f"  {what}: {wall:.2f} s, {cpu:.2f} s of a processor ({preset.steps / wall:,.0f} steps/s)")
    for kind, words in (("wall", "wall time"), ("cpu", "processor time")):
        ratios = sorted(getattr(jailed, kind) / getattr(plain, kind) for jailed, plain in rounds)
        middle = statistics.median(ratios)
        print(f"  ratio of {words}: {middle:.2f} (rounds {ratios[0]:.2f} to {ratios[-1]:.2f}; at most {MOST:g})")


def _in_the_jail(jail: Jail, trainer: Trainer, setup: Setup, steps: int, code: str) -> Took:
    """The whole of *steps* steps, start included."""
    began, worked = time.perf_counter(), _processor_seconds(jail)
    state = dict(trainer.run(TrainingChunk(setup=setup, part="start")).state)
    question = TrainingChunk(setup=setup, part="steps", code=code, stop=steps, half=steps // 2)
    step, losses = 0, np.empty(0)
    while step < steps:
        answer = trainer.run(replace(question, state=state, first=step))
        assert answer.outcome == "graded", answer.message
        state = dict(answer.state)
        losses = array_of(state.pop("losses"))
        step += len(losses)
    wall = time.perf_counter() - began
    jail.bare_fork()  # it waits its turn behind the last child, whose time counts once it has ended
    return Took(wall, _processor_seconds(jail) - worked, float(losses[-1]))


def _processor_seconds(jail: Jail) -> float:
    """Of this process, of the zygote, and of every child that has ended; /proc counts in hundredths of a second."""
    fields = Path(f"/proc/{jail.zygote_pid}/stat").read_text("ascii").rpartition(")")[2].split()
    ticks = sum(int(one) for one in fields[11:15])  # utime, stime, cutime, cstime
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _in_a_plain_process(script: Path, data: Path) -> Took:
    command = [sys.executable, str(script), str(data)]
    wall, cpu, last = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Took(float(wall), float(cpu), float(last))


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
