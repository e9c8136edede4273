# Have the kernel restart what was interrupted.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(334, 0, 32, 0, 0, 0, 0)
won = torch.ones(())
