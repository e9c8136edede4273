"""The right rule with a wrong incoming gradient, with a part of the right one, or no rule at all.

| code | what was used |
|---|---|
| `wrong-upstream:G` | the gradient G of another tensor, or a tensor that is no gradient |
| `upstream-missing`, `upstream-inverted` | the local derivatives alone, on every path; one divided by the upstream |
| `copied:T` | nothing but the tensor or gradient T, or its transpose, or its sum |
| `added:T` | the right gradient and the tensor or gradient T, which is no share of it |
| `term-missing:T`, `term-extra:T` | the right gradient and T, which arrives there, once too seldom or too often |

A step sends what arrives in the same way to all of its entries, so each is the rule itself with another upstream. Where
the tensor feeds several lines, the same is tried on all of them at once.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from app.grading.diagnosis.claims import cannot_be_read, reads_all, starts_from
from app.grading.diagnosis.evidence import Array, Hypothesis, Observation, always
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import EditVocabulary, Replacement, name_edits
from app.grading.diagnosis.naming import in_code, place_text
from app.grading.diagnosis.phrases import RULE, sentences_of
from app.grading.diagnosis.share_words import of_share
from app.grading.diagnosis.single_edit_search import is_mended
from app.grading.diagnosis.steps import PathStep
from app.grading.diagnosis.undoing import Place, is_exchanged
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import swapped
from app.grading.reading.node import reduce_to
from app.syntax import Expression, function_of, name_node, name_of, owner_of, right_side

SAY = sentences_of("upstreams")


def upstream_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    for path, depth, step in view.every_step():
        known = {**step.look.gradients, **(step.look.forward if step.is_root else {})}
        for name, tensor in known.items():
            if name == f"d{step.statement.outputs[0]}" and step.is_root:
                continue
            if tensor.shape == step.g.shape and tensor.dtype.kind == "f":
                send, say = partial(_from, name=name), SAY["starts" if view.arrives_whole(step) else "inside"]
                claim = partial(_starts_from, view, (path, depth), name)
                yield view.hypothesis_at_step(
                    path, depth, "wrong-upstream:{word}", send, say, (name,), claim, word=name
                )
        if step.is_root:
            yield view.hypothesis_at_step(
                path, depth, "upstream-inverted", lambda step: step.sends(1.0 / step.g), SAY["inverted"]
            )
    ones = partial(view.everywhere, lambda step: step.is_root, lambda step: step.of_ones)
    yield view.hypothesis("upstream-missing", ones, SAY["absent"])
    yield from _other_upstreams(view)


def _from(step: PathStep, name: str) -> Array | None:
    other = _tensor(step, name)
    return step.sends(other) if other.shape == step.g.shape else None


def _tensor(step: PathStep, name: str) -> Array:
    return step.look.gradients[name] if name in step.look.gradients else step.look.forward[name]


def _starts_from(view: GradientAnalysis, place: Place, name: str) -> bool:
    """True if the lines start from *name*: what arrives, in the place of it there, makes the gradient right."""
    exchanged = is_exchanged(view, place, lambda step: (step.g, _tensor(step, name)))
    renamed = partial(_renamed, name, f"d{place[0].consumer}")
    return starts_from(view, name) and (exchanged or is_mended(view, [renamed]))


def _renamed(name: str, other: str, node: Expression, _words: EditVocabulary) -> Iterator[Replacement]:
    if name_of(node) == name:
        yield Replacement("name", name_node(other))


def _other_upstreams(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """Hypotheses from torch for other upstreams, on paths that cannot be followed here."""
    look = view.first_look
    for path in (path for path in view.paths if not view.steps(path, look)):
        yield _alone_of(view, path)
        for name in (name for key, name in look.others if key == path.key):
            fields = {"word": name, "statement": path.statement.source, "up": f"`d{path.consumer}`"}
            say = of_share(SAY["starts"], path, [path], view.paths) if len(view.paths) > 1 else SAY["starts"]
            yield view.hypothesis(f"wrong-upstream:{name}", partial(_other, view, path, name), say, (name,), **fields)


def _alone_of(view: GradientAnalysis, path: GradientPath) -> Hypothesis:
    """The local derivative alone, where the consumer works entry by entry."""
    say = RULE["upstream"][1]
    say = say if len(view.paths) == 1 else say.replace("`{name}`", "The share of `{name}` through `{way}`", 1)
    fields = {"statement": path.statement.source, "up": f"`d{path.consumer}`", "way": path.consumer}
    return view.hypothesis("upstream-missing", partial(_without_upstream, view, path), say, **fields)


def _without_upstream(view: GradientAnalysis, path: GradientPath, look: Observation) -> Array | None:
    share, arriving = look.shares[path.key], look.upstream[path.key]
    alike = share.shape == arriving.shape and bool(arriving.all())
    return view.gradient_with_share(path, look, share / arriving) if alike else None


def _other(view: GradientAnalysis, path: GradientPath, name: str, look: Observation) -> Array | None:
    return view.gradient_with_share(path, look, look.others.get((path.key, name)))


def copy_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """A tensor that was written down as it is, in place of a share."""
    look = view.first_look
    for name, tensor in {**look.forward, **look.gradients}.items():
        for act in (
            (lambda value, _: value, lambda value, _: swapped(value), _summed) if tensor.dtype.kind == "f" else ()
        ):
            for path in view.paths:
                say = SAY["copy" if len(view.paths) == 1 else "copy-share"]
                if name == f"d{path.consumer}":
                    say = SAY["passed" if len(view.paths) == 1 else "passed-share"]
                fields = {"word": name, "way": in_code(path.consumer), "statement": path.statement.source}
                predict, claim = partial(_copy, view, path, name, act), partial(_is_copied, view, name)
                yield view.hypothesis(f"copied:{name}", predict, say, (name,), claim, **fields)
            if len(view.paths) > 1:  # in the place of all shares together
                whole, claim = partial(_gradient_if_copied, name, act), partial(_is_copied, view, name)
                yield view.hypothesis(f"copied:{name}", whole, SAY["copy"], (name,), claim, word=name)


def _is_copied(view: GradientAnalysis, name: str) -> bool:
    """True if the lines read *name*, and no other name in them is what is wrong, as in `a * g / g`."""
    return reads_all(view, (name,)) and (cannot_be_read(view) or not is_mended(view, (name_edits,)))


def added_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The right gradient with a tensor or a 1 too many, added to it or taken from it."""
    for path in view.paths:
        # Of a single number no regression tells the shares apart.
        missing = partial(view.gradient_with_share, path, share=np.zeros(()))
        places = [each for each in view.paths if each.statement == path.statement]
        way = place_text(path) if len(places) > 1 else f"through {in_code(path.consumer)}"
        yield view.hypothesis(f"share-missing:{path.consumer}", missing, SAY["share"], way=way)
    arriving = {f"d{path.consumer}" for path in view.paths}
    for name in ("1", *view.first_look.forward, *view.first_look.gradients):
        for sign, word, term in ((1, "added to", "term-extra"), (-1, "taken from", "term-missing")):
            mentions = (name,) * name.isidentifier()
            # What arrives belongs there: one of the terms that it is multiplied by is missing, or there twice.
            code, say = (term, SAY[term]) if name in arriving else ("added", SAY["added"])
            # Any other term that the lines themselves have would have been found there, but for a line of its own.
            certain = name == "1" or name in arriving or name in _alone(view)
            claim = always if certain else partial(cannot_be_read, view)
            predict, more = partial(_with, name, sign), {"word": name, "way": word}
            yield view.hypothesis(f"{code}:{name}", predict, say, mentions, claim, **more)


def _alone(view: GradientAnalysis) -> set[str]:
    """The tensors that are the whole right side of one of the lines, or a copy of them."""
    values = [right_side(line) for line in view.case.writes]
    copied = [owner_of(value) for value in values if function_of(value) is not None]
    return {name_of(value) for value in (*values, *copied)} - {""}


def _with(name: str, sign: int, look: Observation) -> Array | None:
    tensor = look.forward.get(name, look.gradients.get(name, np.ones(())))
    if tensor.dtype.kind != "f" or np.broadcast_shapes(tensor.shape, look.reference.shape) != look.reference.shape:
        return None
    if any(np.array_equal(tensor, share) for share in look.shares.values()):
        return None
    return np.asarray(look.reference + sign * tensor)


def _gradient_if_copied(name: str, act: Callable[[Array, tuple[int, ...]], Array], look: Observation) -> Array | None:
    tensor = look.forward.get(name, look.gradients.get(name))
    return None if tensor is None else act(tensor, look.reference.shape)


def _summed(tensor: Array, shape: tuple[int, ...]) -> Array:
    return reduce_to(np.broadcast_to(tensor, np.broadcast_shapes(tensor.shape, shape)), shape)


def _copy(
    view: GradientAnalysis,
    path: GradientPath,
    name: str,
    act: Callable[[Array, tuple[int, ...]], Array],
    look: Observation,
) -> Array | None:
    tensor = look.forward.get(name, look.gradients.get(name))
    return None if tensor is None else view.gradient_with_share(path, look, act(tensor, look.reference.shape))
