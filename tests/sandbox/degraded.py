"""A jail on a machine that lacks something: `python degraded.py OPTIONS`, where OPTIONS is JSON.

`{"missing": {"317": 38}}` makes call 317 answer errno 38, as a kernel or a container's profile would; prints JSON.
"""

import ctypes
import json
import struct
import sys

from app.sandbox import kernel, seccomp
from app.sandbox.runner import Jail
from app.sandbox.wire import Job


def take_away(calls: dict[str, int]) -> None:
    code = [(0x20, 0, 0, 0)]
    for number, error in calls.items():
        code += [(0x15, 0, 1, int(number)), (0x06, 0, 0, 0x00050000 | error)]
    assembled = ctypes.create_string_buffer(seccomp.assemble([*code, (0x06, 0, 0, seccomp.ALLOW)]))
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    program = struct.pack("@HP", len(code) + 1, ctypes.addressof(assembled))
    kernel.syscall("seccomp", kernel.NUMBERS["seccomp"], 1, 0, program)


def main() -> None:
    options = json.loads(sys.argv[1])
    take_away(options.get("missing", {}))
    jail = Jail(require_landlock=options.get("require_landlock", False), unsafe=options.get("unsafe", False))
    reply = jail.run(Job(driver="probe", header={"source": "y = torch.ones(2)", "names": ["y"]}))
    forked = jail.run(Job(driver="probe", header={"source": "import os\nos.fork()"}))
    jail.close()
    facts = {fact.name: [fact.on, fact.reason, fact.remedy] for fact in jail.facts}
    print(json.dumps([jail.refusal, facts, reply.ending, reply.detail, forked.ending]))


if __name__ == "__main__":
    main()
