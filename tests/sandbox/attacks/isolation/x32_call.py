# Make a call by the second numbering of x86-64.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(0x40000000 | 39)
won = torch.ones(())
