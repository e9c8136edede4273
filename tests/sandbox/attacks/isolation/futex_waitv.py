# Wait at many places at once.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(449, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
