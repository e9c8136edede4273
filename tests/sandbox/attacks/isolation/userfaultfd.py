# Handle page faults.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(323, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
