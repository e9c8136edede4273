# Take another process's descriptor.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(438, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
