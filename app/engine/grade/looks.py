"""Observations for a diagnosis: a gradient on each data set, with all that the tape knows of the way to it."""

from collections.abc import Collection, Mapping

from app.engine.grade.facts_cache import CacheEntry
from app.engine.grade.forward_references import ForwardReferences
from app.grading.diagnosis.evidence import Observation
from app.grading.forward.data import Array


def observations_of(
    study: ForwardReferences, tensor: str, cut: Collection[str], others: Collection[str], got: Mapping[str, Array]
) -> dict[str, Observation]:
    """Everything that a diagnosis may look at, by data set; *got* holds the learner's tensor of each set.

    On hidden data upstreams are forced into *cut*; on the lesson's own data the true ones are in force.
    """
    cuts = {name: (name, list(study.forward.outputs if name == "v" else cut)) for name in got}
    blockable = [
        name
        for statement in study.program.statements
        for name in statement.outputs
        if name not in cut and name in study.gradable
    ]
    entry, _ = study.backward(cuts, [tensor], tensor, blockable, others)
    return {name: _look(study, name, entry, tensor, cut, others, got[name]) for name in got}


def _look(
    study: ForwardReferences,
    run: str,
    entry: CacheEntry,
    tensor: str,
    cut: Collection[str],
    others: Collection[str],
    got: Array,
) -> Observation:
    arrays: dict[str, dict[str, Array]] = {}
    for key, array in entry.arrays.items():
        owner, kind, name = key.split("/", 2)
        if owner == run:
            arrays.setdefault(kind, {})[name] = array
    shares = arrays.get("s", {})
    pairs = {tuple(key.split("/", 1)): array for key, array in arrays.get("o", {}).items()}
    names = {*others, *cut} if run != "v" else set(study.forward.outputs)
    return Observation(
        got=got,
        reference=arrays["g"][tensor],
        shares=shares,
        unreduced={**shares, **arrays.get("u", {})},
        upstream=arrays.get("up", {}),
        forward=study.sets[run].tensors,
        gradients={f"d{name}": study.forced(run, name) for name in sorted(names)},
        blocked=arrays.get("b", {}),
        others={(key[0], f"d{key[1]}"): pair for key, pair in pairs.items() if len(key) == 2},
        dims=study.sets[run].dims,
    )


def look_beside(
    study: ForwardReferences, run: str, reference: Array, forced: Collection[str], got: Array
) -> Observation:
    """The look of one *run* without what the tape knows of the way: enough to read lines beside it."""
    return Observation(
        got=got,
        reference=reference,
        shares={},
        unreduced={},
        upstream={},
        forward=study.sets[run].tensors,
        gradients={f"d{name}": study.forced(run, name) for name in forced},
        dims=study.sets[run].dims,
    )
