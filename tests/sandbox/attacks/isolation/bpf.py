# Load a kernel program.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(321, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
