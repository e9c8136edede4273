"""Two runs one after the other: what the first leaves anywhere, the second does not find."""

import numpy as np
import pytest

from app.sandbox.wire import Job

HEAP = """
import ctypes
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
end = libc.sbrk(0) & ~4095
for place in range(end - 65536, end - 400 * 65536, -65536):
    if libc.madvise(place, 65536, 0):
        break
    if b"planted" + b"-marker" in ctypes.string_at(place, 65536):
        found = torch.ones(())
"""

ALLOCATE = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for _ in range(20):
    ctypes.memmove(libc.malloc(90_000), b"planted" + b"-marker", 14)
"""

# What the first run does, and how the second one looks for it.
PLANTED = {
    "a builtin": ("import builtins\nbuiltins.planted = 1", "import builtins\nseen = hasattr(builtins, 'planted')"),
    "an attribute of torch": ("torch.planted = 1", "seen = hasattr(torch, 'planted')"),
    "a method of tensors": ("torch.Tensor.planted = 1", "seen = hasattr(x, 'planted')"),
    "a module": ("import sys\nsys.modules['planted'] = sys", "import sys\nseen = 'planted' in sys.modules"),
    "a path": ("import sys\nsys.path.append('planted')", "import sys\nseen = 'planted' in sys.path"),
    "the environment": ("import os\nos.environ['P'] = 'p'", "import os\nseen = 'P' in os.environ"),
    "libc's environment": (
        "import ctypes\nctypes.CDLL(None).setenv(b'P', b'p', 1)",
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\nseen = libc.getenv(b'P')",
    ),
    "the default dtype": ("torch.set_default_dtype(torch.float64)", "seen = torch.ones(1).dtype != torch.float32"),
    "the grad mode": ("torch.set_grad_enabled(False)", "seen = not torch.is_grad_enabled()"),
    "a trace": ("import sys\nsys.settrace(lambda *a: None)", "import sys\nseen = sys.gettrace() is not None"),
    "an audit hook": (
        "import sys, builtins\nbuiltins.heard = []\nsys.addaudithook(lambda e, a: builtins.heard.append(e))",
        "import builtins\nseen = hasattr(builtins, 'heard')",
    ),
    "a limit": ("import sys\nsys.setrecursionlimit(77)", "import sys\nseen = sys.getrecursionlimit() == 77"),
    "the harness": (
        "from app.sandbox import harness\nharness.DRIVERS.clear()",
        "from app.sandbox import harness\nseen = not harness.DRIVERS",
    ),
    "the frames": (
        "from app.sandbox import frames\nframes.P = 1",
        "from app.sandbox import frames\nseen = hasattr(frames, 'P')",
    ),
    "the inputs": ("x.fill_(7)", "seen = (x == 7).any()"),
    "the heap": (
        ALLOCATE,
        HEAP + "seen = 'found' in dir()",
    ),
    "free memory": (
        "y = [torch.full((1000,), 0x7AC3_5B19_44D2_9E6F) for _ in range(20)]\ndel y",
        "seen = any((torch.empty(1000, dtype=torch.int64) == 0x7AC3_5B19_44D2_9E6F).any() for _ in range(20))",
    ),
    "the time zone": (
        "import ctypes\nctypes.c_long.in_dll(ctypes.CDLL(None), 'timezone').value = 77",
        "import ctypes\nseen = ctypes.c_long.in_dll(ctypes.CDLL(None), 'timezone').value == 77",
    ),
    "the seeds": ("torch.manual_seed(3)\nimport random\nrandom.seed(3)", "seen = torch.initial_seed() == 3"),
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_what_one_run_leaves_the_next_does_not_find(any_jail, planted):
    plant, seek = PLANTED[planted]
    inputs = {"x": np.zeros((2, 2))}
    tell = "\nfound = torch.tensor(bool(seen))"

    in_one = any_jail.run(
        Job(driver="probe", header={"source": plant + "\n" + seek + tell, "names": ["found"]}, arrays=inputs)
    )
    first = any_jail.run(Job(driver="probe", header={"source": plant}, arrays=inputs))
    second = any_jail.run(Job(driver="probe", header={"source": seek + tell, "names": ["found"]}, arrays=inputs))

    assert first.ending == "done"
    # Refused already in the run itself, or found there; anything else would show nothing.
    assert "error" in in_one.texts or in_one.ending != "done" or in_one.arrays["found"]
    assert "error" in second.texts or not second.arrays["found"]


def test_two_runs_draw_numbers_that_have_nothing_to_do_with_each_other(any_jail):
    source = "import random\ny = torch.rand(100)\nz = torch.tensor([random.random() for _ in range(100)])"
    job = Job(driver="probe", header={"source": source, "names": ["y", "z"]})

    runs = [any_jail.run(job).arrays for _ in range(6)]

    for name in ("y", "z"):
        assert len({run[name].tobytes() for run in runs}) == len(runs)
