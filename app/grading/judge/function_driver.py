"""The driver that runs a function or class in the jail on the author's cases, and says what came of each.

It runs twice: with the learner's text, which sees no expected answer, and then with the author's, in a process of its
own, which judges by `expect` what the first one sent. Values cross as plain trees of numbers, texts and tensors.
"""

import json
from collections.abc import Callable
from typing import Any

import torch

from app.grading.forward.driver_jobs import DriverOutput, FunctionHeader
from app.grading.judge.own_text import OWN, initial_scope, run_case, run_text
from app.syntax import Program, parse_code

Tensor = torch.Tensor
_DEEPEST = 8
_MOST_LEAVES = 2000
_LONGEST_TEXT = 400


def run(header: FunctionHeader, arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Run the text of *header*, then every case with what it defined."""
    report: dict[str, Any] = {}
    with torch.no_grad():
        scope, tree = initial_scope(), parse_code(header["source"])
        report[OWN] = own = run_text(header, scope, tree, out)
        if not own["errors"] and not own["kinds"]:
            for key, case in header["cases"].items():
                report[key] = _run_function(key, case, header, dict(scope), tree, arrays, out)
    out.text("report", json.dumps(report))


def _run_function(
    key: str,
    case: str,
    header: FunctionHeader,
    scope: dict[str, Any],
    tree: Program,
    arrays: dict[str, Tensor],
    out: DriverOutput,
) -> dict[str, Any]:
    """Outcome of one case: its `result`, or the error that came instead, and whether a judged one will do."""

    def act() -> None:
        exec(compile(case, "<case>", "exec"), scope)
        if "result" not in scope:
            scope["result"] = scope[header["function"]](*(scope[name] for name in header["arguments"]))

    if error := run_case(key, act, tree, out):
        return {"errors": error}
    tree_of = Tree(lambda at, tensor: out.tensor(f"{key}/{at}", tensor))
    result: dict[str, Any] = {"result": tree_of.of(scope["result"])}
    if key in header["judged"]:
        result["fits"] = _fits(scope["expect"], header["judged"][key], key, arrays)
    return result


def _fits(expect: Callable[[object], object], judged: Any, key: str, arrays: dict[str, Tensor]) -> bool:
    try:
        return bool(expect(_value(judged, key, arrays)))
    except MemoryError:
        raise
    except Exception:
        return False  # an answer of another kind than the one that `expect` can look at


class Tree:
    """Values as `[kind, …]`, as deep and wide as a bound allows; *send* is given the tensors, by number."""

    def __init__(self, send: Callable[[int, Tensor], None]) -> None:
        self._send = send
        self._tensors = 0
        self._leaves = 0

    def of(self, value: object, depth: int = 0) -> list[Any]:
        self._leaves += 1
        if depth > _DEEPEST or self._leaves > _MOST_LEAVES:
            return ["other", "nested or large beyond measure"]
        if type(value) is Tensor:
            self._tensors += 1
            self._send(self._tensors, value)
            return ["tensor", self._tensors, [str(value.dtype)[6:], *value.shape]]
        if isinstance(value, bool):
            return ["bool", bool(value)]
        if isinstance(value, int):
            return ["int", int(value)] if abs(value) < 2**53 else ["other", "number beyond all limits"]
        if isinstance(value, float):
            return ["float", repr(float(value))]
        if value is None:
            return ["nothing"]
        if isinstance(value, str):
            return ["text", str(value)[:_LONGEST_TEXT]]
        if isinstance(value, (list, tuple)):
            return ["list", [self.of(item, depth + 1) for item in value[:_MOST_LEAVES]]]
        if isinstance(value, dict):
            pairs = list(value.items())[:_MOST_LEAVES]
            return ["dict", [[self.of(key, depth + 1), self.of(item, depth + 1)] for key, item in pairs]]
        return ["other", type(value).__name__[:80]]


def _value(tree: Any, key: str, arrays: dict[str, Tensor]) -> Any:
    """Rebuild a value from its *tree*."""
    match tree:
        case ["tensor", int(at), *_]:
            return arrays[f"{key}/{at}"]
        case ["bool" | "int" | "text", value]:
            return value
        case ["float", text]:
            return float(text)
        case ["list", items]:
            return [_value(item, key, arrays) for item in items]
        case ["dict", pairs]:
            return {_value(item, key, arrays): _value(two, key, arrays) for item, two in pairs}
        case _:
            return None
