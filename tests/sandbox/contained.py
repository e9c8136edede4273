"""What a container is asked: `python contained.py` runs the doctor and some submissions, and prints JSON about both."""

import contextlib
import io
import json
import math
import os
from pathlib import Path

from app.cli.doctor import doctor
from app.sandbox.runner import Jail
from app.sandbox.wire import Job

WON = "\nwon = torch.ones(())"
SUBMISSIONS = {
    "honest": "y = torch.tanh(torch.ones(2, 2) @ torch.ones(2, 2)).sum(0)",
    "fork": "import os\nos.fork()" + WON,
    "read a file": "open('/etc/passwd').read()" + WON,
    "write a file": "open('/tmp/backhand-attack', 'w')" + WON,
    "make a socket": "import ctypes\nctypes.CDLL(None).socket(2, 1, 0)" + WON,
    "enter a namespace": "import ctypes\nctypes.CDLL(None).unshare(0x10000000)" + WON,
    "take all memory": "y = bytearray(10**9)" + WON,
    "never end": "while True: pass",
}


def diagnosed() -> tuple[int, str]:
    """The exit status of `backhand doctor` and what it says."""
    said, status = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            doctor()
        except SystemExit as end:
            status = int(end.code or 0)
    return status, said.getvalue()


def main() -> None:
    status, said = diagnosed()
    jail = Jail()
    endings, won = {}, []
    for name, source in SUBMISSIONS.items():
        cpu_seconds = 0.2 if name == "never end" else math.inf
        header = {"source": source, "names": ["won", "y"]}
        reply = jail.run(Job(driver="probe", header=header, seconds=120.0, cpu_seconds=cpu_seconds))
        endings[name] = "error" if reply.ending == "done" and "error" in reply.texts else reply.ending
        won += [name] * ("won" in reply.arrays)
    jail.close()
    own = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    print(
        json.dumps(
            {
                "doctor": [status, said],
                "refusal": jail.refusal,
                "layers": dict(jail.layers),
                "endings": endings,
                "won": won,
                "uid": os.getuid(),
                "capabilities": int(own["CapEff"], 16),
                "no_new_privs": int(own["NoNewPrivs"]),
                "filters": int(own.get("Seccomp_filters", "0")),
            }
        )
    )


if __name__ == "__main__":
    main()
