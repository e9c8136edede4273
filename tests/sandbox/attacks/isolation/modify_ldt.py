# Change the descriptor table.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(154, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
