# Take another stack for signals.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(131, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
