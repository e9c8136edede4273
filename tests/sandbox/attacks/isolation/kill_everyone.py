# Kill every process of the user.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(62, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
