# Unmount a file system.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(166, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
