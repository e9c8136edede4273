# Enter a namespace.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(308, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
