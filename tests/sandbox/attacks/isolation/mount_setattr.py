# Change a mount.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(442, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
