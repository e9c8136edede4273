# Make a link.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(88, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
