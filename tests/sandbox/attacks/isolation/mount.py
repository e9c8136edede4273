# Mount a file system.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(165, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
