"""The right rule with a wrong incoming gradient: another gradient of the same shape in place of the consumer's.

| code | what was used |
|---|---|
| `wrong-upstream:G` | the gradient G of another tensor |
"""

from collections.abc import Iterator
from functools import partial

from app.grading.evidence import Array, Case, Look, Mistake, Path
from app.grading.mistakes.bench import Bench, Step
from app.grading.mistakes.rules import vjp
from app.grading.mistakes.words import upstream_name


def mistakes(bench: Bench) -> Iterator[Mistake]:
    look = bench.case.looks[0]
    for path in bench.paths:
        mine = upstream_name(path)
        for name in look.gradients:
            if name != mine:
                say = partial(_say, path=path, name=name)
                predict = partial(_predict, bench, path, name)
                yield Mistake(code=f"wrong-upstream:{name}", predict=predict, say=say, mentions=(name,))


def _predict(bench: Bench, path: Path, name: str, _case: Case, look: Look) -> Array | None:
    share = look.others.get((path.key, name))
    return bench.exchanged(path, look, share if share is not None else _under(bench, path, look, look.gradients[name]))


def _under(bench: Bench, path: Path, look: Look, upstream: Array) -> Array | None:
    """The share of *path* if *upstream* arrived at its consumer."""
    steps = bench.steps(path, look)
    if not steps or upstream.shape != steps[0].g.shape:
        return None
    top = steps[0]
    exchanged = Step(top.node, top.position, upstream, top.below, look)
    return exchanged.carried(vjp(top.node, top.position, upstream))


def _say(case: Case, path: Path, name: str) -> str:
    return (
        f"The rule fits, but `{case.name}` starts from `{name}`. The forward line is `{path.statement.source}`: "
        f"what arrives there is the gradient of its output, `{path.consumer}`."
    )
