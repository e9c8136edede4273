# Seal memory so that it cannot be given back.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(462, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
