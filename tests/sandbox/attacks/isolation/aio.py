# Write to the result later, by the kernel's older queue.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(206, 1, 0, 0, 0, 0, 0)
won = torch.ones(())
