"""What surrounds the loop of a training run in an export; the list of names is put in the place of @@LIST@@."""

import base64
import pathlib
import zlib
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import torch
from preamble import backhand
from torch import Tensor

torch.set_num_threads(1)  # tables as small as these are done before a second thread has woken up


class backhand_training:
    """The names of the course, and what surrounds the loop below."""

    LIST = """
@@LIST@@
"""

    @staticmethod
    def listed(path: str) -> list[str]:
        """The names in the file at *path*, one a line; where there is none, those of the course."""
        file = pathlib.Path(path)
        if file.exists():
            return file.read_text("utf-8").lower().split()
        return backhand_training.packed()

    @staticmethod
    def packed() -> list[str]:
        """The data of the course, a word for each name or row."""
        return zlib.decompress(base64.b64decode(backhand_training.LIST)).decode("ascii").split()

    class NotYet(Exception):
        """A gradient cannot be used; the message says why and what to do."""

    class loop(backhand.place):
        """A loop with your lines in it. What it asks for is blank until your lines have written it."""

        def __init__(self, asks: str) -> None:
            self.asks = asks.split()

        def begin(self, names: dict[str, Any]) -> None:
            names.update({name: backhand.Blank() for name in self.asks})

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> bool:
            if kind is not backhand_training.NotYet:
                return super().__exit__(kind, error, trace)
            print(error)
            return super().__exit__(None, None, None)

    @staticmethod
    def ready(parameters: Sequence[Tensor], **gradients: Any) -> list[Tensor]:
        """The *gradients* as a list, when each of them fits its parameter."""
        for parameter, (name, gradient) in zip(parameters, gradients.items(), strict=True):
            if isinstance(gradient, backhand.Blank):
                raise backhand_training.NotYet(
                    f"Not yet: `{name}` is still a blank. Write your lines in the place of ____ in this cell too "
                    "(or check the box in the course and export once more). Until then nothing is trained."
                )
            if not isinstance(gradient, torch.Tensor) or gradient.shape != parameter.shape:
                shape = tuple(gradient.shape) if isinstance(gradient, torch.Tensor) else type(gradient).__name__
                wanted = tuple(parameter.shape)
                raise backhand_training.NotYet(f"`{name}` is {shape}; it should have the shape {wanted}.")
        return list(gradients.values())

    @staticmethod
    def table(mine: Sequence[float], theirs: Sequence[float]) -> None:
        """Two runs side by side: the mean loss of each tenth, and the largest difference of any step."""
        print(f"{'steps':>17}  {'yours':>8}  {'autograd':>8}")
        size = max(1, len(theirs) // 10)
        for first in range(0, len(theirs), size):
            last = min(first + size, len(theirs))
            own = f"{sum(mine[first:last]) / (last - first):8.4f}" if len(mine) >= last else " not yet"
            print(f"{first:>7,} – {last:>7,}  {own}  {sum(theirs[first:last]) / (last - first):8.4f}")
        if mine:
            gap = max(abs(one - other) for one, other in zip(mine, theirs, strict=False))
            print(f"largest difference of any step: {gap:.1e}")
