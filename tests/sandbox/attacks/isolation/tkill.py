# Kill a thread.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(200, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
