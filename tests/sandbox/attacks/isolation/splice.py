# Move bytes between descriptors.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(275, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
