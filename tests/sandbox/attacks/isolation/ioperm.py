# Take one port.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(173, 0x80, 1, 1, 0, 0, 0)
won = torch.ones(())
