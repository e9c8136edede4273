# Run a program by descriptor.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(322, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
