# Rename a file.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(82, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
