# Make a session.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(112, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
