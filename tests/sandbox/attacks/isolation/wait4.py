# Wait for others.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(61, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
