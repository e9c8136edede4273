# Have every disk of the machine written out.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(162, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
