# Take the memory of a process that is dying.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(448, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
