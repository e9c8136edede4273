# Send SIGABRT, the one signal that a library may try, to another.
# outcome: done|error
# machine: x86_64

import ctypes
if ctypes.CDLL(None).syscall(234, 1, 1, 6) == 0:
    won = torch.ones(())
