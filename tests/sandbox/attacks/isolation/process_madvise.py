# Advise about another process.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(440, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
