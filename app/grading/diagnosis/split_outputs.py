"""A forward statement with several outputs, such as `a, b = x.chunk(2, 1)`, read as one statement for each output.

Then every output is a consumer of its own, and all tables apply to it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.grading.diagnosis.evidence import Array, Observation, WrongGradient
from app.grading.diagnosis.steps import CHAIN, steps_of
from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.operations.numerics import magnitude
from app.syntax import part_of


def split_outputs(case: WrongGradient) -> WrongGradient:
    """*case* with a path for each output; itself where there is nothing to unpack, or the parts cannot be read."""
    twins = {path.key: _twins(path) for path in case.paths if len(path.statement.outputs) > 1}
    if not twins:
        return case
    parts = {
        gradient_paths[0].statement.index: [twin.statement for twin in gradient_paths]
        for gradient_paths in reversed(twins.values())
    }
    statements = tuple(
        part
        for forward_statement in case.statements
        for part in parts.get(forward_statement.index, [forward_statement])
    )
    paths = tuple(twin for path in case.paths for twin in twins.get(path.key, (path,)))
    wide = replace(case, statements=statements, paths=paths)
    looks = [_look(wide, look, twins) for look in case.looks]
    if any(look is None for look in looks):
        return case
    seen = None if case.visible is None else _look(wide, case.visible, twins)
    return replace(wide, looks=tuple(look for look in looks if look is not None), visible=seen)


def _twins(path: GradientPath) -> tuple[GradientPath, ...]:
    paths = []
    for rank, output in enumerate(path.statement.outputs):
        node = part_of(path.statement.node, rank)
        statement = ForwardStatement(
            index=path.statement.index,
            outputs=(output,),
            inputs=path.statement.inputs,
            node=node,
            source=path.statement.source,
        )
        paths.append(GradientPath(key=f"{path.key}.{output}", statement=statement, position=path.position))
    return tuple(paths)


def _look(case: WrongGradient, look: Observation, twins: Mapping[str, tuple[GradientPath, ...]]) -> Observation | None:
    """*look* with the share of each output, which must add up to the share that torch gave."""
    shares, unreduced, upstream = dict(look.shares), dict(look.unreduced), dict(look.upstream)
    for key, paths in twins.items():
        whole = shares.pop(key, None)
        unreduced.pop(key, None)
        upstream.pop(key, None)
        parts = [(path.key, part) for path in paths if (part := _share(case, path, look)) is not None]
        if whole is None or len(parts) < len(paths):
            return None
        total = sum(share for _, (share, _) in parts)
        if magnitude(total - whole) > CHAIN * max(magnitude(whole), 1e-300):
            return None
        shares |= {key: share for key, (share, _) in parts}
        unreduced |= {key: share for key, (share, _) in parts}
        upstream |= {key: arriving for key, (_, arriving) in parts}
    return replace(look, shares=shares, unreduced=unreduced, upstream=upstream)


def _share(case: WrongGradient, path: GradientPath, look: Observation) -> tuple[Array, Array] | None:
    """The share of one output, and what arrives at it."""
    value, arriving = look.forward.get(path.consumer), look.gradients.get(f"d{path.consumer}")
    if value is None:
        return None
    if arriving is None:
        arriving = np.zeros_like(value, dtype=np.float64)
        places = [
            (forward_statement, at)
            for forward_statement in case.statements
            for at, name in enumerate(forward_statement.inputs)
            if name == path.consumer
        ]
        for statement, position in places:
            reader = GradientPath(key="", statement=statement, position=position)
            sent = _share_sent(case, reader, look.gradients.get(f"d{reader.consumer}"), look)
            if sent is None:
                return None
            arriving = arriving + sent
    sent = _share_sent(case, path, arriving, look)
    return None if sent is None else (sent, arriving)


def _share_sent(case: WrongGradient, path: GradientPath, arriving: Array | None, look: Observation) -> Array | None:
    """Share that *path* sends if *arriving* is the gradient of its consumer."""
    if arriving is None:
        return None
    guess = replace(look, shares={path.key: np.full(1, np.nan)}, upstream={path.key: arriving})
    steps = steps_of(case, path, guess, trusted=True)
    return steps[0].carried(steps[0].sends(steps[0].g)) if steps else None
