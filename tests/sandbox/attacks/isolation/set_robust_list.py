# Give the kernel a list to walk when it ends.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(273, 0, 24, 0, 0, 0, 0)
won = torch.ones(())
