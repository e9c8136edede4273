"""Setup of a training run, computed once from a `train` block: sizes, initial values, the data it reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from app.content.blocks import Forward, Preset, Table, Train
from app.content.text.arithmetic import number_of
from app.grading.forward.data import shape_of

SEED = 2147483647


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A tensor that learns; it starts as shift + scale * standard normal."""

    name: str
    shape: tuple[int, ...]
    scale: float
    shift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A forward program with the sizes of one run.

    Args:
        batch: The dim that counts the examples of a batch.
        width: How many characters of context an example has.
    """

    forward: Forward
    dims: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    context: str
    target: str
    batch: str
    width: int
    logits: str
    mean: str | None
    variance: str | None
    rates: tuple[float, float]
    seed: int = SEED
    table: Table | None = None

    @property
    def numbers(self) -> int:
        """Number of parameters that learn."""
        return sum(prod(parameter.shape) for parameter in self.parameters)


def setup_of(train: Train, forward: Forward, preset: Preset) -> Setup:
    """The setup of one of the lengths that *train* offers."""
    dims = {**forward.dims, **preset.dims}
    shapes = {tensor_input.name: shape_of(tensor_input, dims) for tensor_input in forward.inputs}
    parameters = tuple(
        Parameter(
            name=tensor_input.name,
            shape=shapes[tensor_input.name],
            scale=number_of(train.scale.get(tensor_input.name, "1"), dims),
            shift=number_of(train.shift.get(tensor_input.name, "0"), dims),
        )
        for tensor_input in forward.inputs
        if tensor_input.real and tensor_input.name not in (train.context, train.target)
    )
    context = next(tensor_input for tensor_input in forward.inputs if tensor_input.name == train.context)
    return Setup(
        forward=forward,
        dims=dims,
        parameters=parameters,
        context=train.context,
        target=train.target,
        batch=context.sizes[0],
        width=shapes[train.context][1],
        logits=train.logits,
        mean=train.mean,
        variance=train.variance,
        rates=train.rates,
        table=train.table,
    )
