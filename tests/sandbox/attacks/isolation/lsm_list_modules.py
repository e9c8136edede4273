# Ask which guards this kernel has.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(461, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
