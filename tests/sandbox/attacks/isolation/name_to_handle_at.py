# Take a handle on a file.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(303, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
