"""The boxes as forward programs, and a stand-in for the jail that runs drivers in this process."""

import re
import time
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import torch

from app.content.blocks import Code, Forward, Grad, Input, SourceLocation
from app.engine.task import GradTask
from app.sandbox.frames import DTYPES
from app.sandbox.wire import Job, Reply

HERE = Path(__file__).parent
PLACE = SourceLocation(path="boxes.toml", line=1)


@dataclass(frozen=True)
class Box:
    name: str
    forward: Forward
    require: tuple[str, ...]
    solution: str

    def task(self, **options) -> GradTask:
        code = Code(place=PLACE, source="", line=1)
        solution = Code(place=PLACE, source=self.solution, line=1)
        given = options.pop("given", ())
        require = options.pop("require", self.require)
        grad = Grad(
            place=PLACE, name=self.name, forward=self.name, require=require, starter=code, solution=solution, **options
        )
        return GradTask(forward=self.forward, grad=grad, given=given)


def read_input(text: str) -> Input:
    name, sizes, rest = re.fullmatch(r"\s*(\w+): \[(.*?)\]\s*(.*?)\s*", text).groups()
    kind, bound = re.fullmatch(r"(\w*)(?:\((\w+)\))?", rest).groups()
    parts = tuple(part.strip() for part in sizes.split(",") if part.strip())
    return Input(name=name, sizes=parts, distribution=kind or "randn", bound=bound)


def make_forward(name: str, dims: str, inputs: str, output: str, source: str) -> Forward:
    sizes = {part.split(":")[0].strip(): int(part.split(":")[1]) for part in dims.split(",") if part.strip()}
    drawn = tuple(read_input(part) for part in inputs.split(";"))
    return Forward(place=PLACE, name=name, dims=sizes, inputs=drawn, output=output, source=source, source_line=1)


def load(file: str) -> tuple[Box, ...]:
    table = tomllib.loads((HERE / file).read_text())["box"]
    return tuple(
        Box(
            row["name"],
            make_forward(row["name"], row["dims"], row["inputs"], row["output"], row["forward"]),
            tuple(row["require"].split()),
            row["solution"],
        )
        for row in table
    )


BOXES = load("boxes.toml")
NETWORK = load("network.toml")[0]
MORE = load("more.toml")


class Collected:
    """What a driver leaves behind, checked as the harness would."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.texts: dict[str, str] = {}

    def tensor(self, key: str, value: object) -> None:
        if type(value) is not torch.Tensor:
            self.texts["!" + key] = type(value).__name__
        elif str(value.dtype).removeprefix("torch.") not in DTYPES:
            self.texts["!" + key] = f"dtype {value.dtype}, shape {tuple(value.shape)}"
        elif value.device.type != "cpu" or value.numel() * value.element_size() > 2**26:
            self.texts["!" + key] = f"shape {tuple(value.shape)} on {value.device}"
        else:
            self.arrays[key] = value.detach().contiguous().clone().numpy()

    def text(self, key: str, value: str) -> None:
        self.texts[key] = value

    @contextmanager
    def capture(self) -> Iterator[StringIO]:
        from contextlib import redirect_stdout

        with StringIO() as buffer, redirect_stdout(buffer):
            yield buffer


class OpenJail:
    """Runs drivers in this very process: for tests of grading, not of the jail."""

    def __init__(self) -> None:
        torch.set_num_threads(1)  # as in the jail; many threads would only wait for each other at these sizes
        self.jobs: list[Job] = []

    def run(self, job: Job) -> Reply:
        from app.grading.forward import tape_driver
        from app.grading.judge import attempt_driver, check_driver
        from app.grading.nudge import nudge_driver
        from app.grading.train import train_driver

        self.jobs.append(job)
        started = time.perf_counter()
        out = Collected()
        arrays = {key: torch.from_numpy(np.array(value)) for key, value in job.arrays.items()}
        default = torch.get_default_dtype()
        ending = "done"
        try:
            drivers = {
                "tape": tape_driver,
                "attempt": attempt_driver,
                "train": train_driver,
                "checker": check_driver,
                "nudge": nudge_driver,
            }
            drivers[job.driver].run(dict(job.header), arrays, out)
        except MemoryError:
            ending = "memory"
        except Exception:
            out.texts["escaped"] = traceback.format_exc()
        finally:
            torch.set_default_dtype(default)
        wall = (time.perf_counter() - started) * 1e3
        return Reply(ending=ending, arrays=out.arrays, texts=out.texts, wall_ms=wall)
