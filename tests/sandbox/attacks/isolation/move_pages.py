# Move another process's pages.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(279, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
