"""The right rule with a wrong incoming gradient, or no rule at all.

| code | what was used |
|---|---|
| `wrong-upstream:G` | the gradient G of another tensor, or a tensor that is no gradient |
| `upstream-inverted` | the local derivative divided by the upstream |
| `copied:T` | nothing but the tensor T of the program, or its transpose, or its sum |
| `copied:G` | nothing but another gradient G |
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.rules import reduce_to, swapped
from app.grading.diagnosis.slips import Slip, at_step, every_step
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

INVERTED = Slip(
    "upstream-inverted",
    lambda step: vjp(step.node, step.position, 1.0 / step.g),
    "`{name}` divides by what arrives from above, {up}; a backward step multiplies by it.",
)


def mistakes(bench: Bench) -> Iterator[Mistake]:
    followed = set()
    for path, depth, step in every_step(bench):
        followed.add(path.key)
        if not step.is_root:
            yield from _inside(bench, path, depth, step)
            continue
        mine = f"d{step.statement.outputs[0]}"
        for name, gradient in {**step.look.gradients, **step.look.forward}.items():
            if name != mine and gradient.shape == step.g.shape and gradient.dtype.kind == "f":
                predict = partial(_instead, bench, path, depth, name)
                say = partial(_say, line=step.statement.source, output=step.statement.outputs[0], name=name)
                yield Mistake(code=f"wrong-upstream:{name}", predict=predict, say=say, mentions=(name,))
        yield at_step(bench, path, depth, INVERTED)
    for path in bench.paths:
        if path.key not in followed:
            yield from _computed(bench, path)


def _inside(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    """A gradient that the learner has, in place of the one inside of a statement."""
    for name, gradient in step.look.gradients.items():
        if gradient.shape == step.g.shape and gradient.dtype.kind == "f":
            say = partial(_say_inside, line=step.statement.source, part=step.node.text, name=name)
            predict = partial(_instead, bench, path, depth, name)
            yield Mistake(code=f"wrong-upstream:{name}", predict=predict, say=say, mentions=(name,))


def _instead(bench: Bench, path: Path, depth: int, name: str, _case: Case, look: Look) -> Array | None:
    steps = bench.steps(path, look)
    other = look.gradients[name] if name in look.gradients else look.forward[name]
    if depth >= len(steps) or other.shape != steps[depth].g.shape:
        return None
    step = replace(steps[depth], g=other)
    return bench.resent(path, depth, look, vjp(step.node, step.position, step.g))


def _computed(bench: Bench, path: Path) -> Iterator[Mistake]:
    """What torch gave for other upstreams, on a path that cannot be followed here."""
    for key, name in bench.case.looks[0].others:
        if key == path.key:
            say = partial(_say, line=path.statement.source, output=path.consumer, name=name)
            predict = partial(_other, bench, path, name)
            yield Mistake(code=f"wrong-upstream:{name}", predict=predict, say=say, mentions=(name,))


def _other(bench: Bench, path: Path, name: str, _case: Case, look: Look) -> Array | None:
    return bench.exchanged(path, look, look.others.get((path.key, name)))


def _say_inside(case: Case, line: str, part: str, name: str) -> str:
    return (
        f"The rule fits, but `{case.name}` starts from `{name}`. In the forward line `{line}` what arrives is the "
        f"gradient at `{part}`."
    )


def _say(case: Case, line: str, output: str, name: str) -> str:
    return (
        f"The rule fits, but `{case.name}` starts from `{name}`. The forward line is `{line}`: what arrives there is "
        f"the gradient of its output, `{output}`."
    )


def copies(bench: Bench) -> Iterator[Mistake]:
    """A tensor that was written down as it is, in place of a share."""
    look = bench.case.looks[0]
    for name, tensor in {**look.forward, **look.gradients}.items():
        if tensor.dtype.kind != "f":
            continue
        for act in (_as_it_is, _transposed, _summed):
            for path in bench.paths:
                predict = partial(_copy, bench, path, name, act)
                say = partial(_say_copy, name=name)
                yield Mistake(code=f"copied:{name}", predict=predict, say=say, mentions=(name,))


def _as_it_is(tensor: Array, _shape: tuple[int, ...]) -> Array:
    return tensor


def _transposed(tensor: Array, _shape: tuple[int, ...]) -> Array:
    return swapped(tensor)


def _summed(tensor: Array, shape: tuple[int, ...]) -> Array:
    wide = np.broadcast_shapes(tensor.shape, shape)
    return reduce_to(np.broadcast_to(tensor, wide), shape)


def _copy(
    bench: Bench, path: Path, name: str, act: Callable[[Array, tuple[int, ...]], Array], _case: Case, look: Look
) -> Array | None:
    tensor = look.forward.get(name, look.gradients.get(name))
    return None if tensor is None else bench.exchanged(path, look, act(tensor, look.reference.shape))


def _say_copy(case: Case, name: str) -> str:
    return (
        f"`{case.name}` holds `{name}` and nothing else that matters. A backward step joins two things: what arrives "
        "from above and the local derivative."
    )
