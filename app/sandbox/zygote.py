"""The process that every run is forked from: torch imported and warmed, one thread, no secrets, nobody's data.

`python -I -B -m app.sandbox.zygote FD`, with an almost empty environment; FD is the control socket to the grader.
"""

import importlib
import json
import socket
import sys
import traceback
from typing import cast


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    try:
        keep_small()
        service = importlib.import_module("app.sandbox.service")
        plan = service.prepare()
    except BaseException:
        control.send(json.dumps({"kind": "failed", "reason": traceback.format_exc()[-4000:]}).encode())
        raise
    service.serve(control, plan)


def keep_small() -> None:
    """Do without numpy: torch imports it only if it can, and no run needs its files, its threads or its 80 MB."""
    cast(dict[str, object], sys.modules)["numpy"] = None


if __name__ == "__main__":
    main()
