# Rename the machine.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(170, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
