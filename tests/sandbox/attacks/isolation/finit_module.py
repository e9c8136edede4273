# Load a module from a file.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(313, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
