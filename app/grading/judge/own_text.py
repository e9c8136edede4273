"""The text of a learner that defines a function or a class, run before its cases, and what all cases share.

Runs in the jail.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from app.grading.forward.driver_jobs import CheckHeader, DriverOutput, FunctionHeader
from app.grading.judge.fault import FILE, raised_by
from app.grading.judge.value_preview import shown_as
from app.syntax import Program

OWN = "own"
ANSWER = "answer"
_PRINTED = 2000


def initial_scope() -> dict[str, Any]:
    """Scope before any text."""
    return {"torch": torch, "F": F, "math": math}


def fill_unset_memory(source: str) -> None:
    """Have NaN in all that `torch.empty` of *source* leaves unset, so that no text is right by what was in memory.

    Asked for where *source* makes such a tensor: each operation is a third slower with it.
    """
    # `use_deterministic_algorithms` does the same, and imports a compiler first.
    torch.set_deterministic_debug_mode("warn" if "empty" in source or "Tensor(" in source else "default")


def reset_case() -> None:
    """Nothing that one case sets reaches the next."""
    torch.set_default_dtype(torch.float32)
    torch.default_generator.manual_seed(0)


def run_text(
    header: CheckHeader | FunctionHeader, scope: dict[str, Any], tree: Program, out: DriverOutput
) -> dict[str, Any]:
    """Run *tree*, the text of *header*, in *scope*; what came of it, with the kind of what cannot be called."""
    fill_unset_memory(header["source"])
    with out.capture() as printed:
        error = raised_by(lambda: exec(compile(tree, FILE, "exec"), scope), tree)
    out.text("printed", printed.getvalue())
    function = scope.get(header["function"])
    shown = [shown_as(name, scope[name], printed=False) for name in header["shown"] if name in scope]
    kinds = {} if callable(function) else {ANSWER: {"kind": type(function).__name__[:80]}}
    return {"errors": error, "shown": shown, "kinds": kinds}


def run_case(key: str, act: Callable[[], object], tree: Program, out: DriverOutput) -> list[dict[str, Any]]:
    """Run *act*, the case *key*; return what it raised and send what it printed."""
    reset_case()
    with out.capture() as printed:
        error = raised_by(act, tree)
    if printed.getvalue():
        out.text(f"printed/{key}", printed.getvalue()[:_PRINTED])
    return error
