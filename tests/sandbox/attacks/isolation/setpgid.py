# Change its process group.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(109, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
