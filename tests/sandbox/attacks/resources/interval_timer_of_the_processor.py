# Set a timer of processor time, whose signal ends it as its limit does.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(38, 2, 0, 0, 0, 0, 0)
won = torch.ones(())
