"""A forward statement with several outputs, such as `a, b = x.chunk(2, 1)`, read as one statement for each output.

Then every output is a consumer of its own, and all tables apply to it.
"""

import ast
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.grading.diagnosis.evidence import Array, Case, Look
from app.grading.diagnosis.steps import CHAIN, Step, steps_of
from app.grading.forward.statements import Path, Statement
from app.grading.reading.rules import backward


def unpacked(case: Case) -> Case:
    """*case* with a path for each output; itself where there is nothing to unpack, or the parts cannot be read."""
    if all(len(path.statement.outputs) == 1 for path in case.paths):
        return case
    twins = {path.key: _twins(path) for path in case.paths if len(path.statement.outputs) > 1}
    statements = [
        twin.statement
        for statement in case.statements
        for twin in next((found for found in twins.values() if found[0].statement.index == statement.index), ())
    ]
    kept = [
        one for one in case.statements if len(one.outputs) == 1 or one.index not in {each.index for each in statements}
    ]
    paths = tuple(twin for path in case.paths for twin in twins.get(path.key, (path,)))
    wide = replace(case, statements=tuple(sorted([*kept, *statements], key=lambda one: one.index)), paths=paths)
    looks = [_look(wide, look, twins) for look in case.looks]
    if any(look is None for look in looks):
        return case
    seen = None if case.visible is None else _look(wide, case.visible, twins)
    return replace(wide, looks=tuple(look for look in looks if look is not None), visible=seen)


def _twins(path: Path) -> tuple[Path, ...]:
    found = []
    for rank, output in enumerate(path.statement.outputs):
        node = ast.Subscript(path.statement.node, ast.Constant(rank), ast.Load())
        statement = Statement(
            index=path.statement.index,
            outputs=(output,),
            inputs=path.statement.inputs,
            node=node,
            source=path.statement.source,
        )
        found.append(Path(key=f"{path.key}.{output}", statement=statement, position=path.position))
    return tuple(found)


def _look(case: Case, look: Look, twins: Mapping[str, tuple[Path, ...]]) -> Look | None:
    """*look* with the share of each output, which must add up to the share that torch gave."""
    shares, unreduced, upstream = dict(look.shares), dict(look.unreduced), dict(look.upstream)
    for key, paths in twins.items():
        if key not in shares:
            return None
        whole = shares.pop(key)
        unreduced.pop(key, None)
        upstream.pop(key, None)
        total: Array = np.zeros_like(whole)
        for path in paths:
            found = _share(case, path, look)
            if found is None:
                return None
            shares[path.key], upstream[path.key] = found
            unreduced[path.key] = found[0]
            total = total + found[0]
        if np.abs(total - whole).max(initial=0.0) > CHAIN * max(float(np.abs(whole).max(initial=0.0)), 1e-300):
            return None
    return replace(look, shares=shares, unreduced=unreduced, upstream=upstream)


def _share(case: Case, path: Path, look: Look) -> tuple[Array, Array] | None:
    """The share of one output, and what arrives at it."""
    output = path.consumer
    value = look.forward.get(output)
    arriving = look.gradients.get(f"d{output}")
    if value is None:
        return None
    if arriving is None:
        arriving = np.zeros_like(value, dtype=np.float64)
        readers = [(one, at) for one in case.statements for at, name in enumerate(one.inputs) if name == output]
        for statement, position in readers:
            share = _through(case, Path(key="", statement=statement, position=position), look)
            if share is None:
                return None
            arriving = arriving + share
    guess = replace(look, shares={path.key: np.full(1, np.nan)}, upstream={path.key: arriving})
    steps = steps_of(case, path, guess, trusted=True)
    return None if not steps else (_carried(steps[0]), arriving)


def _through(case: Case, path: Path, look: Look) -> Array | None:
    """The share that *path* sends, where the gradient of its consumer is in force."""
    arriving = look.gradients.get(f"d{path.consumer}")
    if arriving is None:
        return None
    guess = replace(look, shares={path.key: np.full(1, np.nan)}, upstream={path.key: arriving})
    steps = steps_of(case, path, guess, trusted=True)
    return _carried(steps[0]) if steps else None


def _carried(step: Step) -> Array:
    share = step.carried(backward(step.node, step.position, step.g))
    assert share is not None, "a way that was followed down can be followed again"
    return share
