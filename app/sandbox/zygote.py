"""The process that every run is forked from: torch imported and warmed, one thread, no secrets, no data.

`python -I -B -m app.sandbox.zygote [FOLDER] FD`, with an almost empty environment; FD is the control socket to the
grader, FOLDER where it makes a control group for itself and all runs.
"""

import gc
import importlib
import json
import operator
import socket
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import cast

from app.sandbox import groups

_FOR_NUMBERS: dict[str, object] = {
    "sym_eq": operator.eq,
    "expect_true": bool,
    "guard_or_false": bool,
    "is_nested_int": lambda _size: False,
    "has_guarding_hint": lambda _size: True,
    "guarding_hint_or_throw": int,
}


def main() -> None:
    *folder, descriptor = sys.argv[1:]
    control = socket.socket(fileno=int(descriptor))
    try:
        gc.disable()  # what is imported stays: to look for garbage in it is a tenth of what a start costs
        group = groups.ControlGroup(Path(folder[0])) if folder else None
        keep_small()
        service = importlib.import_module("app.sandbox.zygote_loop")
        plan = service.prepare()
        gc.enable()
    except BaseException:
        control.send(json.dumps({"kind": "failed", "reason": traceback.format_exc()[-4000:]}).encode())
        raise
    service.serve(control, plan, group)


def keep_small() -> None:
    """Do without what torch imports for the sake of others: 100 MB, half a second, and threads that no fork survives.

    Numpy it imports only if it can. Sympy belongs to sizes that are symbols; where gradients meet an upstream, or two
    shapes each other, functions of that module are called with numbers, and for those they are simple.
    """
    modules = cast(dict[str, object], sys.modules)
    modules["numpy"] = None
    sizes = ModuleType("torch.fx.experimental.symbolic_shapes")
    sizes.__dict__.update(_FOR_NUMBERS)
    modules[sizes.__name__] = sizes


if __name__ == "__main__":
    main()
