"""The helpers of a training run in an export: the list of names, and what surrounds the loop.

Like the preamble it is text here, and runs where the export runs, with torch and nothing else.
"""

import base64
import textwrap
import zlib
from collections.abc import Sequence
from functools import lru_cache

WIDTH = 100

FEW = (
    "ada alan alice amelia anna arthur barbara ben bernard carl carla carmen carol cecil charles clara david "
    "dennis diana dora edgar edith edna ella elsa emil emily emma eric ernest esther eva felix flora frank fred "
    "george gerald gina grace greta harold harry helen henry hugo ida irene iris isaac jack jacob james jane joan "
    "john joseph julia karl kate laura leo leon lena lily linda lisa louis lucy mabel marie martin mary max mia "
    "miles mona nathan nina nora olga oliver oscar otto paul paula peter philip rachel ralph robert rosa ruth sam "
    "sara simon sophia stella susan tara theo thomas tina ursula vera victor vivian walter wanda willa yvonne zoe"
)

HELPERS = r'''
import base64
import pathlib
import random
import zlib

torch.set_num_threads(1)  # tables as small as these are done before a second thread has woken up


class backhand_training:
    """The names of the course, and what surrounds the loop below."""

    LIST = """
@@LIST@@
"""

    def listed(path):
        """The names in the file at *path*, one a line; where there is none, those of the course."""
        file = pathlib.Path(path)
        if file.exists():
            return file.read_text("utf-8").lower().split()
        return zlib.decompress(base64.b64decode(backhand_training.LIST)).decode("ascii").split()

    class NotYet(Exception):
        """A gradient cannot be used; the message says why and what to do."""

    class loop(backhand.place):
        """A loop with your lines in it. What it asks for is blank until your lines have written it."""

        def __init__(self, asks):
            self.asks = asks.split()

        def begin(self, names):
            names.update({name: backhand.Blank() for name in self.asks})

        def __exit__(self, kind, error, trace):
            if kind is not backhand_training.NotYet:
                return super().__exit__(kind, error, trace)
            print(error)
            return super().__exit__(None, None, None)

    def ready(parameters, **gradients):
        """The *gradients* as a list, when each of them fits its parameter."""
        for parameter, (name, gradient) in zip(parameters, gradients.items()):
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

    def table(mine, theirs):
        """Two runs side by side: the mean loss of each tenth, and the largest difference of any step."""
        print(f"{'steps':>17}  {'yours':>8}  {'autograd':>8}")
        size = max(1, len(theirs) // 10)
        for first in range(0, len(theirs), size):
            last = min(first + size, len(theirs))
            own = f"{sum(mine[first:last]) / (last - first):8.4f}" if len(mine) >= last else " not yet"
            print(f"{first:>7,} – {last:>7,}  {own}  {sum(theirs[first:last]) / (last - first):8.4f}")
        if mine:
            gap = max(abs(one - other) for one, other in zip(mine, theirs))
            print(f"largest difference of any step: {gap:.1e}")
'''.lstrip()


def helpers(names: Sequence[str] = ()) -> str:
    """The helpers with *names* in them; a few common ones where none are given."""
    return HELPERS.replace("@@LIST@@", _packed(tuple(names) or tuple(FEW.split())))


@lru_cache(maxsize=4)
def _packed(names: tuple[str, ...]) -> str:
    packed = base64.b64encode(zlib.compress("\n".join(names).encode("ascii"), 9)).decode("ascii")
    return textwrap.fill(packed, WIDTH)
