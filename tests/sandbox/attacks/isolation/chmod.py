# Change a file's mode.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(90, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
