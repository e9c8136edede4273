# Run a program.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(59, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
