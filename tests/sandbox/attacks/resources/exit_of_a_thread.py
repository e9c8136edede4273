# End the one thread and leave the process.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(60, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
