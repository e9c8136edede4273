# Make a timer that fires when it likes.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(222, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
